# One sender of ns-2.35 on the network of the packet logs, in their profile `clean`; writes the trace to standard output.
# Usage: ns packet_log.tcl VARIANT "DROPPED ARRIVALS" PACKETS WINDOW SECONDS
set variant [lindex $argv 0]; set drops [lindex $argv 1]; set packets [lindex $argv 2]
set window [lindex $argv 3]; set stop [lindex $argv 4]
Agent/TCP set syn_ false; Agent/TCP set delay_growth_ false; Agent/TCP set useHeaders_ false
Agent/TCP set windowInit_ 1; Agent/TCP set singledup_ 0; Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 1.0; Agent/TCP set maxrto_ 60; Agent/TCP set rtxcur_init_ 3.0
Agent/TCP set packetSize_ 1000; Agent/TCP set overhead_ 0; Agent/TCP set maxburst_ 0
Agent/TCP set numdupacks_ 3; Agent/TCP set bugFix_ true; Agent/TCP set slow_start_restart_ true
Agent/TCP set window_ $window
if {$variant == "newreno0"} { Agent/TCP/Newreno set newreno_changes1_ 0; Agent/TCP/Newreno set partial_window_deflation_ 0 }
array set cls {tahoe Agent/TCP reno Agent/TCP/Reno renonb Agent/TCP/Reno newreno Agent/TCP/Newreno newreno0 Agent/TCP/Newreno sack1 Agent/TCP/Sack1}
set ns [new Simulator]
set f stdout
$ns trace-all $f
set s [$ns node]; set r1 [$ns node]; set r2 [$ns node]; set d [$ns node]
$ns duplex-link $s $r1 8Mb 0.1ms DropTail
$ns duplex-link $r1 $r2 0.8Mb 100ms DropTail
$ns duplex-link $r2 $d 8Mb 0.1ms DropTail
foreach {a b} [list $s $r1 $r1 $s $r1 $r2 $r2 $r1 $r2 $d $d $r2] { $ns queue-limit $a $b 1000 }
if {[llength $drops] > 0} {
  set em [new ErrorModel/List]; $em droplist $drops; $ns link-lossmodel $em $r1 $r2
}
set tcp [new $cls($variant)]
if {$variant == "renonb"} { $tcp set bugFix_ false }
if {$variant == "sack1"} { set sink [new Agent/TCPSink/Sack1] } else { set sink [new Agent/TCPSink] }
$ns attach-agent $s $tcp; $ns attach-agent $d $sink; $ns connect $tcp $sink
set ftp [new Application/FTP]; $ftp attach-agent $tcp
if {$packets == ""} { $ns at 0.0 "$ftp start" } else { $ns at 0.0 "$ftp produce $packets" }
$ns at $stop "finish"
proc finish {} { global ns f; $ns flush-trace; exit 0 }
$ns run
