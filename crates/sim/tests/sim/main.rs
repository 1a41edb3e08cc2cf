//! The network, tested from outside. These tests are one program, because each program compiles the engine again.

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
