# Leung & Ma's single path with a plain SACK sender in ns-2.35.
# Usage: ns single.tcl ACK F UPDATE_S LOSS SEED, with ACK "every" or "del"; on standard output: one line of ns2.csv.
foreach {ack f update loss seed} $argv break
Agent/TCP set window_ 100; Agent/TCP set packetSize_ 1000; Agent/TCP set minrto_ 1.0; Agent/TCP set tcpTick_ 0.01
Agent/TCPSink set generateDSacks_ true
set ns [new Simulator]
foreach n {s r1 r2 d} { set $n [$ns node] }
$ns duplex-link $s $r1 10Mb 1ms DropTail
$ns duplex-link $r1 $r2 10Mb [expr 0.2 * $f]s DropTail
$ns duplex-link $r2 $d 10Mb 1ms DropTail
foreach {a b} [list $s $r1 $r1 $s $r1 $r2 $r2 $r1 $r2 $d $d $r2] { $ns queue-limit $a $b 2000 }
# A stream each for delays and losses; the seed chooses their substream.
foreach stream {delays losses} {
  set $stream [new RNG]
  for {set i 1} {$i < $seed} {incr i} { [set $stream] next-substream }
}
if {$loss > 0} {
  set em [new ErrorModel]; $em unit pkt; $em set rate_ $loss
  set uniform [new RandomVariable/Uniform]; $uniform use-rng $losses
  $em ranvar $uniform; $em drop-target [new Agent/Null]
  $ns lossmodel $em $r1 $r2
}
set link [[$ns link $r1 $r2] link]
proc redraw {} {
  global ns link update delays f
  set delay 0
  while {$delay <= 0} { set delay [$delays normal [expr 0.2 * $f] [expr 0.2 * $f / 3]] }
  $link set delay_ $delay
  $ns at [expr [$ns now] + $update] redraw
}
if {$ack == "every"} { set sink [new Agent/TCPSink/Sack1] } else { set sink [new Agent/TCPSink/Sack1/DelAck] }
set tcp [new Agent/TCP/Sack1]
$ns attach-agent $s $tcp; $ns attach-agent $d $sink; $ns connect $tcp $sink
set ftp [new Application/FTP]; $ftp attach-agent $tcp
proc done {} {
  global tcp argv
  set acked [expr [$tcp set ack_] + 1]
  set timeouts [$tcp set nrexmit_]
  puts [join [concat $argv $acked [format %g [expr $acked / 1000.0]] [$tcp set ndatapack_] [$tcp set nrexmitpack_] $timeouts [expr [$tcp set ncwndcuts1_] - $timeouts]] ,]
  exit 0
}
$ns at 0 redraw
$ns at 0 "$ftp start"
$ns at 1000 done
$ns run
