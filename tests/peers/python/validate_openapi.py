"""Checks an OpenAPI document on standard input against the specification. Prints one problem a line, and nothing if it is valid."""

import json
import sys

from openapi_spec_validator import OpenAPIV31SpecValidator

for problem in OpenAPIV31SpecValidator(json.load(sys.stdin)).iter_errors():
    place = "/".join(str(step) for step in problem.absolute_path)
    print(f"{place}: {problem.message}")
