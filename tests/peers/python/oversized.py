"""Sends a body of 16 MiB with httpx and prints the status of the answer."""

import sys

import httpx

answer = httpx.post(sys.argv[1], content=b"x" * (16 * 1024 * 1024), headers={"content-type": "application/json"})
print("httpx", answer.status_code)
