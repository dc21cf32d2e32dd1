"""The Studio: a web page to see a running loop, push its arm and tune it. The page proposes, the loop decides."""
