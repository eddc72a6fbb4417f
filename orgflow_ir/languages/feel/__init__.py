"""FEEL, the expression language of DMN 1.5 (chapter 10): nodes, parser, values, evaluator."""
