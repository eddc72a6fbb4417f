"""Outlines in canonical form, one for each row of the notation's table."""

from __future__ import annotations

ROWS = {
    "step": "check order | clerk | s1\n",
    "choose": """\
choose: in stock?
  if: yes [stock > 2]
    ship goods | warehouse
  if: ordered
    wait: 3 days
  else:
    order goods
""",
    "together": """\
together:
  row:
    record request
    file request
  photograph goods
  label goods
""",
    "some": """\
some: which checks?
  if: expensive
    check value
  if: abroad
    check customs
  else: neither
""",
    "first": """\
first:
  on: receive offer from dealer
    read offer
  on: after 3 days
decide
""",
    "repeat": """\
repeat: passed?
  test goods
again if: test fails [failures > 0]
  repair goods
ship goods
""",
    "leave": """\
repeat:
  ask customer
  choose:
    if: answered
      leave:
    if: refused
      end: refused
    if: silent
  send: reminder to customer
again:
close case
""",
    "part": """\
part: assess claim
  inspect object
  choose: clear?
    if: clear
      end: clear
    else:
  write report
pay claim
""",
    "each": """\
each: damaged part
  repair part
each: bidder, at once
  ask bidder
call workshop | clerk | each damaged part
call bidder | clerk | each bidder, at once
""",
    "wait": """\
wait: 3 days
wait: until 1 May
wait: until 2026-05-01
wait: every Monday
wait:
""",
    "message": """\
receive: order from customer
send: invoice to customer
receive: equipment
send: to everybody
send: offer to customer
  on: after 2 days, stop
    call customer
""",
    "boundary": """\
check order | clerk
  on: after 10 days, stop
    cancel order
    end: cancelled
  on: receive reminder from customer, also
    answer customer
  on: error core system failed, stop
    check by hand
part: repair
  repair goods
  on: error, stop
ship goods
""",
    "process event": """\
check order
ship order
on: receive cancellation from customer, stop
  charge fee
on: after 30 days, also
  remind manager
""",
    "call": "call: dunning\ncall: Process_7 | named Send lawyers\n",
    "starts": """\
start: every Monday
start: receive order from customer
  record order
start: receive complaint from customer
answer customer
""",
    "end": """\
choose: valid?
  if: no
    end: refused
  if: broken
    end: error system failed
  if: stolen
    stop: everything ends
  else:
ship order
end: shipped
""",
    "process": """\
process: customer
send: order to dealer
receive: invoice from dealer
process: dealer
start: receive order from customer
send: invoice to customer
process: dealer
start: every Monday
check invoices
""",
    "data": """\
write report | clerk | writes report, "claim, final"
file report | clerk | reads report | writes claim file
""",
    "after": """\
together:
  row: | #order
    choose goods
    order goods
  book truck | #truck
  load goods | after #order, #truck
  pay goods | after #order
""",
    "go to": """\
check request | clerk | #check
choose: complete?
  if: complete
  else:
    complete request
    go to: #check
file request
""",
    "odd labels": """\
start: | named receive nothing
step: if: urgent | by each boss
step: send
named step | by s1
receive: | named mail from home
end: | named error message
""",
}
