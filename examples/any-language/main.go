// go run . list
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

type request struct {
	RequestID, ToolName string
	Arguments           json.RawMessage
}

func main() {
	ctx := context.Background()
	temporal, err := client.Dial(client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS")})
	check(err)
	defer temporal.Close()

	switch step := os.Args[1]; step {
	case "start":
		options := client.StartWorkflowOptions{ID: os.Args[2], TaskQueue: "countersign"}
		input := map[string]string{"agent": "tidy", "input": "Please tidy up"}
		_, err := temporal.ExecuteWorkflow(ctx, options, "agentRun", input)
		check(err)
	case "list":
		list := &workflowservice.ListWorkflowExecutionsRequest{Query: `ApprovalIds IS NOT NULL AND ExecutionStatus = "Running"`}
		for more := true; more; more = len(list.NextPageToken) > 0 {
			page, err := temporal.ListWorkflow(ctx, list)
			check(err)
			for _, row := range page.Executions {
				run := row.Execution.WorkflowId
				answer, err := temporal.QueryWorkflow(ctx, run, "", "approvals")
				check(err)
				var requests []request
				check(answer.Get(&requests))
				for _, each := range requests {
					fmt.Println(run, each.RequestID, each.ToolName, string(each.Arguments))
				}
			}
			list.NextPageToken = page.NextPageToken
		}
	case "approve", "deny":
		decision := map[string]any{"requestId": os.Args[3], "approved": step == "approve"}
		check(temporal.SignalWorkflow(ctx, os.Args[2], "", "decide", decision))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
