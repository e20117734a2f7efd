"""The dashboard in a browser: a server on the loopback interface, and what differs in the dashboards that it starts."""
