//! Runs of the network from outside, in one program: each one would compile the engine again.

mod background;
mod elements;
mod net2;
mod network;
mod nothing_lost;
mod ns2;
mod outside;
mod paths;
mod robust;
mod switches;
