"""The Studio: a web page to see a running loop, push its arm and tune it. The loop checks every request."""
