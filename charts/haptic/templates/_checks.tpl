{{/* What a schema of single values cannot see: values that do not go together. Called once, gives no text. */}}
{{- define "haptic.checks" -}}
{{- $haproxy := .Values.haproxy -}}
{{- $budget := $haproxy.podDisruptionBudget -}}
{{- if not (or $haproxy.service.http.enabled $haproxy.service.https.enabled) -}}
{{- fail "haproxy.service: http and https are both disabled, and a Service needs a port: enable one" -}}
{{- end -}}
{{- if and $budget.enabled (kindIs "invalid" $budget.minAvailable) (kindIs "invalid" $budget.maxUnavailable) -}}
{{- fail "haproxy.podDisruptionBudget: minAvailable and maxUnavailable are both null: set one" -}}
{{- end -}}
{{- $names := dict -}}
{{- $ports := dict "haproxy.ports.http" $haproxy.ports.http "haproxy.ports.https" $haproxy.ports.https "haproxy.ports.status" $haproxy.ports.status "haproxy.agent.port" $haproxy.agent.port -}}
{{- range $name, $port := $ports -}}
{{- $key := toString (int $port) -}}
{{- with get $names $key -}}
{{- fail (printf "%s and %s are both %s, and share one pod: choose another port" . $name $key) -}}
{{- end -}}
{{- $_ := set $names $key $name -}}
{{- end -}}
{{- if eq (int .Values.controller.healthPort) (int .Values.controller.metricsPort) -}}
{{- fail (printf "controller.healthPort and controller.metricsPort are both %d: choose another port" (int .Values.controller.healthPort)) -}}
{{- end -}}
{{- end -}}
