"""What tests in several folders share; `import support.NAME`."""
