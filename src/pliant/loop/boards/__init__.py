"""The files of the boards in shared memory: opening them safely, and recovering what killed loops left."""
