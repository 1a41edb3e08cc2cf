# Wang & Shin's Table 5 in ns-2.35, all twenty flows of one variant.
# Usage: ns table5.tcl VARIANT PROFILE SEED OVERHEAD; on standard output: the trace of the bottleneck's queue, and a line RESULT.
foreach {variant profile seed overhead} $argv break
Agent/TCP set syn_ false; Agent/TCP set delay_growth_ false; Agent/TCP set useHeaders_ false
Agent/TCP set packetSize_ 1000; Agent/TCP set windowInit_ 1; Agent/TCP set singledup_ 0
Agent/TCP set window_ 30; Agent/TCP set maxburst_ 0; Agent/TCP set numdupacks_ 3
Agent/TCP set bugFix_ true; Agent/TCP set slow_start_restart_ true; Agent/TCP set overhead_ $overhead
Agent/TCPSink set SYN_immediate_ack_ false
if {$profile == "clean"} {
  Agent/TCP set tcpTick_ 0.01; Agent/TCP set minrto_ 1.0; Agent/TCP set maxrto_ 60; Agent/TCP set rtxcur_init_ 3.0
} else {
  Agent/TCP set tcpTick_ 0.1; Agent/TCP set minrto_ 0; Agent/TCP set maxrto_ 64; Agent/TCP set rtxcur_init_ 6.0
  Agent/TCP set rfc2988_ false; Agent/TCP set updated_rttvar_ false; Agent/TCP set timerfix_ false
  Agent/TCP set precisionReduce_ false; Agent/TCP set bugfix_ss_ 0; Agent/TCP set exitFastRetrans_ false
  Agent/TCP/Newreno set newreno_changes1_ 0; Agent/TCP/Newreno set partial_window_deflation_ 0
  Agent/TCPSink set RFC2581_immediate_ack_ false
}
array set cls {tahoe Agent/TCP reno Agent/TCP/Reno newreno Agent/TCP/Newreno sack1 Agent/TCP/Sack1}
set ns [new Simulator]
set r1 [$ns node]; set r2 [$ns node]
$ns duplex-link $r1 $r2 0.8Mb 95ms DropTail
$ns queue-limit $r1 $r2 25; $ns queue-limit $r2 $r1 1000
$ns trace-queue $r1 $r2 stdout
set rng [new RNG]; $rng seed 12345
for {set i 1} {$i < $seed} {incr i} { $rng next-substream }
if {$overhead > 0} { ns-random $seed }
for {set k 1} {$k <= 20} {incr k} {
  set s [$ns node]; set d [$ns node]
  $ns duplex-link $s $r1 10Mb 2.5ms DropTail; $ns duplex-link $r2 $d 10Mb 2.5ms DropTail
  foreach {a b} [list $s $r1 $r1 $s $r2 $d $d $r2] { $ns queue-limit $a $b 1000 }
  set tcp($k) [new $cls($variant)]
  if {$variant == "sack1"} { set sink [new Agent/TCPSink/Sack1] } else { set sink [new Agent/TCPSink] }
  $ns attach-agent $s $tcp($k); $ns attach-agent $d $sink; $ns connect $tcp($k) $sink
  $tcp($k) set fid_ $k
  set ftp [new Application/FTP]; $ftp attach-agent $tcp($k)
  if {$k < 20} {
    $ns at [expr 0.5 * ($k - 1) + [$rng uniform 0 0.05]] "$ftp start"
  } else {
    $ns at 4.8 "$ftp produce 100"
  }
}
Agent/TCP instproc done {} {
  global ns tcp
  set total 0
  for {set k 1} {$k <= 20} {incr k} { incr total [expr [$tcp($k) set ack_] + 1] }
  puts "RESULT [expr [$ns now] - 4.8] [$tcp(20) set ndatapack_] [$tcp(20) set nrexmit_] [expr $total * 8.0 / [$ns now]]"
  exit 0
}
$ns at 3000 "puts {RESULT none}; exit 1"
$ns run
