" Process outlines of orgflow.
if exists("b:current_syntax")
  finish
endif
syntax case ignore
syntax match outlineComment "^\s*#.*$"
syntax match outlineKeyword "^\s*\%(step\|process\|start\|end\|stop\|choose\|if\|else\|together\|row\|some\|first\|on\|repeat\|again\%( if\)\?\|leave\|part\|each\|wait\|receive\|send\|call\|go to\)?\?:"
syntax match outlineCondition "\[[^\]]*\]\ze\s*\%(|\|$\)"
syntax match outlineField "|\s*\zs\%(each\|reads\|writes\|after\|named\|by\)\>"
syntax match outlineEvidence "|\s*\zss\d\+[-,s0-9 ]*\ze\%(|\|$\)"
syntax match outlineId "#[[:alnum:]_.-]\+"
highlight default link outlineComment Comment
highlight default link outlineKeyword Keyword
highlight default link outlineCondition String
highlight default link outlineField Type
highlight default link outlineEvidence Number
highlight default link outlineId Identifier
let b:current_syntax = "outline"
