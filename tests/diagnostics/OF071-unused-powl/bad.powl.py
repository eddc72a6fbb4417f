ask = gen.activity("Ask customer")
answer = gen.activity("Note answer")
thank = gen.activity("Thank customer")
final_model = gen.partial_order(dependencies=[(ask, answer)])
