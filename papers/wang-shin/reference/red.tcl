# Wang & Shin's Figure 6 in ns-2.35, ten flows of one variant over RED.
# Usage: ns red.tcl VARIANT PROFILE SEED; on standard output: the trace of the bottleneck's queue, and a line RESULT.
foreach {variant profile seed} $argv break
Agent/TCP set syn_ false; Agent/TCP set delay_growth_ false; Agent/TCP set useHeaders_ false
Agent/TCP set packetSize_ 1000; Agent/TCP set windowInit_ 1; Agent/TCP set singledup_ 0
Agent/TCP set window_ 30; Agent/TCP set maxburst_ 0; Agent/TCP set numdupacks_ 3
Agent/TCP set bugFix_ true; Agent/TCP set slow_start_restart_ true; Agent/TCP set overhead_ 0
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
array set cls {tahoe Agent/TCP reno Agent/TCP/Reno newreno Agent/TCP/Newreno newreno0 Agent/TCP/Newreno sack1 Agent/TCP/Sack1}
Queue/RED set thresh_ 5; Queue/RED set maxthresh_ 20; Queue/RED set linterm_ 50; Queue/RED set q_weight_ 0.002
Queue/RED set gentle_ false; Queue/RED set queue_in_bytes_ false; Queue/RED set bytes_ false
Queue/RED set mean_pktsize_ 1000; Queue/RED set wait_ true; Queue/RED set drop_tail_ true
if {$variant == "newreno0"} { Agent/TCP/Newreno set newreno_changes1_ 0; Agent/TCP/Newreno set partial_window_deflation_ 0 }
set ns [new Simulator]
ns-random $seed
set r1 [$ns node]; set r2 [$ns node]
$ns simplex-link $r1 $r2 0.8Mb 95ms RED; $ns simplex-link $r2 $r1 0.8Mb 95ms DropTail
$ns queue-limit $r1 $r2 25; $ns queue-limit $r2 $r1 1000
$ns trace-queue $r1 $r2 stdout
set rng [new RNG]; $rng seed 12345
for {set i 1} {$i < $seed} {incr i} { $rng next-substream }
set n 0
foreach start {0 0 0 0 0 0.5 1.0 1.5 2.0 2.5} {
  incr n
  set s [$ns node]; set d [$ns node]
  $ns duplex-link $s $r1 10Mb 2.5ms DropTail; $ns duplex-link $r2 $d 10Mb 2.5ms DropTail
  foreach {a b} [list $s $r1 $r1 $s $r2 $d $d $r2] { $ns queue-limit $a $b 1000 }
  set tcp($n) [new $cls($variant)]
  if {$variant == "sack1"} { set sink [new Agent/TCPSink/Sack1] } else { set sink [new Agent/TCPSink] }
  $ns attach-agent $s $tcp($n); $ns attach-agent $d $sink; $ns connect $tcp($n) $sink
  $tcp($n) set fid_ $n
  set ftp [new Application/FTP]; $ftp attach-agent $tcp($n)
  $ns at [expr $start + [$rng uniform 0 0.01]] "$ftp start"
}
proc show {} {
  global tcp; puts -nonewline RESULT
  for {set k 1} {$k <= 10} {incr k} { puts -nonewline " [expr [$tcp($k) set ack_] + 1]/[$tcp($k) set nrexmit_]" }
  puts ""; exit 0
}
$ns at 6.0 show
$ns run
