"""Observe: Prometheus, Alertmanager and Grafana over the workers that run, where they are installed."""
