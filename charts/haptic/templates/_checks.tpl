{{/* A duration of the schema's form (1m30s) in seconds. */}}
{{- define "haptic.seconds" -}}
{{- $units := dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ms|s|m|h)" . -1 -}}
{{- $sum = addf $sum (mulf (regexFind "[0-9.]+" . | float64) (get $units (regexFind "[a-z]+" .))) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

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
{{- $scales := $haproxy.autoscaling -}}
{{- if $scales.enabled -}}
{{- if ne $haproxy.kind "Deployment" -}}
{{- fail (printf "haproxy.autoscaling is for a Deployment, and haproxy.kind is %s: choose one" $haproxy.kind) -}}
{{- end -}}
{{- if gt (int $scales.minReplicas) (int $scales.maxReplicas) -}}
{{- fail (printf "haproxy.autoscaling.minReplicas is %d and maxReplicas %d: lower the first or raise the second" (int $scales.minReplicas) (int $scales.maxReplicas)) -}}
{{- end -}}
{{- if and (kindIs "invalid" $scales.targetCPUUtilization) (not $scales.metrics) -}}
{{- fail "haproxy.autoscaling: targetCPUUtilization is null and metrics empty: set one" -}}
{{- end -}}
{{- end -}}
{{- $interval := $haproxy.agent.reloadInterval -}}
{{- if gt (include "haptic.seconds" $interval | float64) 60.0 -}}
{{- fail (printf "haproxy.agent.reloadInterval is %s: the agent takes 60s at most" $interval) -}}
{{- end -}}
{{- $wait := $haproxy.drain.maxWait -}}
{{- if gt (include "haptic.seconds" $wait | float64) (float64 $haproxy.gracePeriodSeconds) -}}
{{- fail (printf "haproxy.drain.maxWait is %s and haproxy.gracePeriodSeconds %d: the pod would be killed while it waits; raise the second or lower the first" $wait (int $haproxy.gracePeriodSeconds)) -}}
{{- end -}}
{{- $names := dict -}}
{{- $ports := dict "haproxy.ports.http" $haproxy.ports.http "haproxy.ports.https" $haproxy.ports.https "haproxy.ports.status" $haproxy.ports.status "haproxy.agent.port" $haproxy.agent.port "haproxy.agent.metricsPort" $haproxy.agent.metricsPort -}}
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
