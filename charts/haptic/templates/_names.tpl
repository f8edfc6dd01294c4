{{- define "haptic.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 40 characters: suffixes and pod names follow. */}}
{{- define "haptic.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels that never change for a release: selectors hold them. Called with (list . COMPONENT). */}}
{{- define "haptic.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "haptic.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "haptic.labels" -}}
{{- $root := index . 0 -}}
{{ include "haptic.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Name, namespace, labels, annotations. Called with (list . NAME COMPONENT). */}}
{{- define "haptic.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 1 }}
namespace: {{ $root.Release.Namespace }}
{{ include "haptic.clusterMetadata" . }}
{{- end -}}

{{- define "haptic.clusterMetadata" -}}
{{- $root := index . 0 -}}
labels:
  {{- include "haptic.labels" (list $root (index . 2)) | nindent 2 }}
{{- with $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "haptic.image" -}}
{{- $image := .Values.image -}}
{{- $_ := required "image.repository is empty: name the repository that you pushed the image to (docs/install.md)" $image.repository -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ default .Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{- define "haptic.configName" -}}
{{- default (include "haptic.fullname" .) .Values.config.name -}}
{{- end -}}

{{- define "haptic.defaultCertificate" -}}
{{- default (printf "%s-default-certificate" (include "haptic.fullname" .)) .Values.defaultCertificate.secretName -}}
{{- end -}}

{{- define "haptic.serviceAccount" -}}
{{- if .Values.controller.serviceAccount.create -}}
{{- default (include "haptic.fullname" .) .Values.controller.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.controller.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "haptic.controllerSecret" -}}
{{- default (printf "%s-controller-tls" (include "haptic.fullname" .)) .Values.tls.controllerSecret -}}
{{- end -}}
{{- define "haptic.agentSecret" -}}
{{- default (printf "%s-agent-tls" (include "haptic.fullname" .)) .Values.tls.agentSecret -}}
{{- end -}}
{{- define "haptic.controllerTlsName" -}}
{{- default (printf "%s-controller.%s.svc" (include "haptic.fullname" .) .Release.Namespace) .Values.tls.controllerName -}}
{{- end -}}
{{- define "haptic.agentTlsName" -}}
{{- default (printf "%s-agent.%s.svc" (include "haptic.fullname" .) .Release.Namespace) .Values.tls.agentName -}}
{{- end -}}

{{/* The name that the configuration gives to the Lease of the election. */}}
{{- define "haptic.leaseName" -}}
{{- dig "controller" "leaderElection" "leaseName" (include "haptic.fullname" .) .Values.config.spec -}}
{{- end -}}

{{/* The spec of the HAProxyTemplateConfig, as YAML: the bundled example, what this release is, the user's own on top. */}}
{{- define "haptic.configSpec" -}}
{{- $bundled := (.Files.Get "files/ingress.yaml" | fromYaml).spec -}}
{{- $certificate := dict "namespace" .Release.Namespace "name" (include "haptic.defaultCertificate" .) -}}
{{- $release := dict
  "podSelector" (dict "matchLabels" (include "haptic.selector" (list . "loadbalancer") | fromYaml))
  "controller" (dict "leaderElection" (dict "leaseName" (include "haptic.fullname" .)))
  "dataplane" (dict "port" (int .Values.haproxy.agent.port))
  "templatingSettings" (dict "extraContext" (dict "defaultCertificate" $certificate "ingressController" .Values.ingressClass.controller)) -}}
{{- $_ := unset $bundled "podSelector" -}}
{{- toYaml (mustMergeOverwrite $bundled $release (deepCopy .Values.config.spec)) -}}
{{- end -}}

{{- define "haptic.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "haptic.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Where pods go. Called with (list . VALUES COMPONENT). */}}
{{- define "haptic.scheduling" -}}
{{- $root := index . 0 -}}{{- $values := index . 1 -}}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- if $values.topologySpreadConstraints }}
  {{- toYaml $values.topologySpreadConstraints | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "haptic.selector" (list $root (index . 2)) | nindent 8 }}
{{- end }}
{{- end -}}
