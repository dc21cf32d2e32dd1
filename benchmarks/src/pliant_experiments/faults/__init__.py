"""The fault matrix: each part of a running system fails in each way, and what happens is compared with what must."""
