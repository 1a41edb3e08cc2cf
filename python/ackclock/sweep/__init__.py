"""Many runs: plans of them, where they are kept, and who makes them."""
