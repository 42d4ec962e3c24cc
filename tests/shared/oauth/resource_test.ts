import { assertEquals } from "@std/assert";
import { isOurResource } from "../../../shared/oauth/resource.ts";

const RESOURCES = ["https://expenses.example/api/mcp", "https://ref.supabase.example/functions/v1/mcp"];

Deno.test("isOurResource() accepts the spellings of real clients", () => {
  const ours = [
    "https://expenses.example/api/mcp",
    "https://expenses.example/api/mcp/",
    "https://EXPENSES.example/api/mcp",
    "HTTPS://expenses.example:443/api/mcp",
    "https://expenses.example/api/mcp?org=1",
    "https://expenses.example",
    "https://expenses.example/",
    "https://ref.supabase.example/functions/v1/mcp",
    "https://ref.supabase.example/functions/v1/mcp/",
  ];
  for (const resource of ours) assertEquals(isOurResource(resource, RESOURCES), true, resource);
});

Deno.test("isOurResource() refuses other hosts, paths and schemes", () => {
  const others = [
    "https://other.example/api/mcp",
    "https://expenses.example.evil.example/api/mcp",
    "http://expenses.example/api/mcp",
    "https://expenses.example:8443/api/mcp",
    "https://expenses.example/api/mcp2",
    "https://expenses.example/api/mcp//",
    "https://expenses.example/API/mcp",
    "https://expenses.example/api",
    "https://ref.supabase.example/functions/v1/oauth",
    "https://user@expenses.example/api/mcp",
    "https://expenses.example/api/mcp#x",
    "https://expenses.example/api/mcp#",
    "/api/mcp",
    "not a url",
    "urn:expenses",
  ];
  for (const resource of others) assertEquals(isOurResource(resource, RESOURCES), false, resource);
});
