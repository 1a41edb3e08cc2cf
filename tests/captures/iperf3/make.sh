#!/bin/sh
# Makes the captures of this folder: iperf3's UDP packets, with counts of 32 and of 64 bits; 64 bytes of each packet are
# kept. Needs Linux, root, iperf3 and tcpdump: unshare -n sh make.sh
set -eu
ip link set lo up
for bits in 32 64; do
    if [ $bits = 64 ]; then wide=--udp-counters-64bit; else wide=; fi
    tcpdump -Z root -q -i lo -s 64 -w iperf3-$bits.pcap 'udp and dst port 5201' 2> /dev/null &
    capture=$!
    sleep 1
    iperf3 -s -1 > /dev/null &
    sleep 1
    iperf3 -c 127.0.0.1 -u -b 2M -l 400 -n 60000 $wide > iperf3-$bits.txt
    sleep 1
    kill $capture
    wait $capture || true
    gzip -9nf iperf3-$bits.pcap
done
