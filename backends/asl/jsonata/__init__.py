"""Programs of tasks as JSONata, the expressions of Step Functions."""
