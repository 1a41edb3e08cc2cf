# Constant-rate senders of three packet sizes at a RED queue of ns-2.35. They start and stop so that the queue fills,
# empties and idles; only RED draws random numbers. Times are whole microseconds, the resolution of a trace, and no
# transmission ends on one. Packets and averages are written to standard output.
# Usage: ns red.tcl GENTLE WAIT QUEUE_IN_BYTES BYTES LIMIT
foreach {gentle wait in_bytes bytes limit} $argv break
Queue/RED set gentle_ $gentle; Queue/RED set wait_ $wait
Queue/RED set queue_in_bytes_ $in_bytes; Queue/RED set bytes_ $bytes
Queue/RED set thresh_ 5; Queue/RED set maxthresh_ 20; Queue/RED set linterm_ 50
Queue/RED set q_weight_ 0.002; Queue/RED set mean_pktsize_ 1000; Queue/RED set setbit_ false
Queue/RED set drop_tail_ true; Queue/RED set use_mark_p_ false; Queue/RED set adaptive_ 0; Queue/RED set cautious_ 0
set ns [new Simulator]
set out stdout
$ns trace-all $out
set a [$ns node]; set b [$ns node]
$ns simplex-link $a $b 0.83Mb 10ms RED
$ns queue-limit $a $b $limit
set red [[$ns link $a $b] queue]
$red trace ave_
$red attach $out
foreach {size interval on off} {1000 0.012713 0.0 200.0  460 0.021101 10.0 170.0  1500 0.041711 30.0 90.0  1500 0.053101 120.0 150.0  40 0.007703 5.0 190.0} {
  set udp [new Agent/UDP]; $udp set packetSize_ 2000
  $ns attach-agent $a $udp
  set null [new Agent/Null]; $ns attach-agent $b $null
  $ns connect $udp $null
  set cbr [new Application/Traffic/CBR]; $cbr set packetSize_ $size; $cbr set interval_ $interval; $cbr set random_ 0
  $cbr attach-agent $udp
  $ns at $on "$cbr start"; $ns at $off "$cbr stop"
}
$ns at 200.0 "$ns flush-trace; exit 0"
$ns run
