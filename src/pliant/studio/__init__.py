"""The Studio: a web page to see a running loop, push its arm and tune it. The page requests, the loop decides."""
