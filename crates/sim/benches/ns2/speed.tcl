# The cases of benches/speed/cases.rs on ns-2 (Debian: ns2), without tracing.
# Usage: ns speed.tcl 1|20|100
# Prints "outcome PACKETS CPU_SECONDS EVENTS RSS_KB" (ns-2 does not report its events: 0); the time excludes start-up.

proc cpu_s {} {
    set f [open /proc/self/schedstat]
    set ns [lindex [read $f] 0]
    close $f
    return [expr {$ns / 1e9}]
}

proc peak_rss_kb {} {
    set f [open /proc/self/status]
    regexp {VmHWM:\s+(\d+)} [read $f] all kb
    close $f
    return $kb
}

# flows seconds access(Mb/s ms) shared(Mb/s ms queue)
array set cases {
    1   {1 600 10 0 5 50 65}
    20  {20 600 100 5 10 20 100}
    100 {100 60 100 5 100 20 500}
}
set name [lindex $argv 0]
if {![info exists cases($name)]} {
    puts stderr "usage: ns speed.tcl 1|20|100"
    exit 1
}
lassign $cases($name) flows seconds access_mbps access_ms shared_mbps shared_ms queue

set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 ${shared_mbps}Mb ${shared_ms}ms DropTail
$ns queue-limit $r1 $r2 $queue
$ns queue-limit $r2 $r1 $queue

for {set i 0} {$i < $flows} {incr i} {
    set s [$ns node]
    set d [$ns node]
    foreach {a b} [list $s $r1 $r2 $d] {
        $ns duplex-link $a $b ${access_mbps}Mb ${access_ms}ms DropTail
        $ns queue-limit $a $b 1000
        $ns queue-limit $b $a 1000
    }
    set tcp [new Agent/TCP/Sack1]
    $tcp set packetSize_ 1460
    $tcp set window_ 500
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $sink set interval_ 200ms
    $ns attach-agent $s $tcp
    $ns attach-agent $d $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr {0.013 * $i}] "$ftp start"
    lappend senders $tcp
}

proc finish {} {
    global senders before
    set cpu [expr {[cpu_s] - $before}]
    set packets 0
    foreach tcp $senders {
        incr packets [expr {[$tcp set ack_] + 1}]
    }
    puts "outcome $packets $cpu 0 [peak_rss_kb]"
    exit 0
}

$ns at $seconds finish
set before [cpu_s]
$ns run
