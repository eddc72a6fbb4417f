"""A catalogue of a few made-up node types, described as n8n describes its own."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.catalogue.node_catalogue import N8nCatalogue


def _option(name: str, value: str, action: str) -> dict[str, Any]:
    return {"name": name, "value": value, "action": action, "description": action}


def _type(name: str, title: str, properties: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "name": name, "displayName": title, "version": 1, "group": ["output"], "inputs": ["main"],
        "outputs": ["main"], "description": f"Consume {title}", "properties": properties, **more,
    }  # fmt: skip


CHAT = _type(
    "chat",
    "Chat",
    [
        {
            "displayName": "Operation", "name": "operation", "type": "options", "default": "post",
            "options": [
                _option("Post", "post", "Send a message"),
                _option("Archive", "archive", "Archive a channel"),
            ],
        },
        {
            "displayName": "Send To", "name": "select", "type": "options", "required": True,
            "default": "", "displayOptions": {"show": {"operation": ["post"]}},
            "options": [{"name": "Channel", "value": "channel"}, {"name": "User", "value": "user"}],
        },
        {
            "displayName": "Channel", "name": "channelId", "type": "resourceLocator",
            "required": True, "default": {"mode": "list", "value": ""},
            "modes": [{"name": "list"}, {"name": "id"}],
            "displayOptions": {"show": {"operation": ["post"], "select": ["channel"]}},
        },
        {
            "displayName": "User", "name": "user", "type": "string", "required": True,
            "default": "", "displayOptions": {"show": {"operation": ["post"], "select": ["user"]}},
        },
        {
            "displayName": "Message Text", "name": "text", "type": "string", "required": True,
            "default": "", "displayOptions": {"show": {"operation": ["post"]}},
        },
        {
            "displayName": "Options", "name": "options", "type": "collection", "default": {},
            "options": [
                {"displayName": "Silent", "name": "silent", "type": "boolean", "default": False},
                {
                    "displayName": "Delay", "name": "delay", "type": "number", "default": 0,
                    "typeOptions": {"minValue": 0, "maxValue": 60},
                },
            ],
        },
    ],
    credentials=[{"name": "chatApi", "required": True}],
)  # fmt: skip
STORE = _type(
    "store",
    "Stock Store",
    [
        {
            "displayName": "Operation", "name": "operation", "type": "options", "default": "get",
            "options": [
                _option("Get", "get", "Check the stock of an article"),
                _option("Reserve", "reserve", "Reserve an article"),
            ],
        },
        {
            "displayName": "Article", "name": "article", "type": "string", "required": True,
            "default": "",
        },
    ],
)  # fmt: skip


def small_catalogue() -> N8nCatalogue:
    """Two types with four operations."""
    return N8nCatalogue([CHAT, STORE], "small 1", "hash of small 1")
