"""What is compiled: the kernel decorator, the loop, its rows, random numbers."""
