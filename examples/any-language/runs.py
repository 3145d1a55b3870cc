# python runs.py list
import asyncio, json, os, sys
from temporalio.client import Client


async def main(step, run="", request_id=""):
    client = await Client.connect(os.environ.get("TEMPORAL_ADDRESS", "localhost:7233"))
    if step == "start":
        given = {"agent": "tidy", "input": "Please tidy up"}
        await client.start_workflow("agentRun", given, id=run, task_queue="countersign")
    elif step == "list":
        async for row in client.list_workflows('ApprovalIds IS NOT NULL AND ExecutionStatus = "Running"'):
            for request in await client.get_workflow_handle(row.id).query("approvals"):
                print(row.id, request["requestId"], request["toolName"], json.dumps(request["arguments"]))
    elif step in ("approve", "deny"):
        decision = {"requestId": request_id, "approved": step == "approve"}
        await client.get_workflow_handle(run).signal("decide", decision)


asyncio.run(main(*sys.argv[1:]))
# A short process can crash as it ends, in threads of the SDK (temporalio/sdk-python#300).
sys.stdout.flush()
os._exit(0)
