"""Prints a workflow's search attributes as Temporal's Python SDK reads them: read-attributes.py ADDRESS WORKFLOW_ID"""

import asyncio
import json
import os
import sys

from temporalio.client import Client


async def main(address: str, workflow_id: str) -> None:
    client = await Client.connect(address)
    described = await client.get_workflow_handle(workflow_id).describe()
    listed = [each async for each in client.list_workflows(f'WorkflowId = "{workflow_id}"')]
    read = {
        "described": {pair.key.name: pair.value for pair in described.typed_search_attributes},
        "untyped": described.search_attributes,
        "listed": [{pair.key.name: pair.value for pair in each.typed_search_attributes} for each in listed],
    }
    print(json.dumps(read, default=str))


asyncio.run(main(*sys.argv[1:]))
# Skips the interpreter's finalization, in which threads of the SDK sometimes crash.
sys.stdout.flush()
os._exit(0)
