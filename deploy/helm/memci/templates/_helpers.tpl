{{/* The parts: their commands, as in the Procfile, and how Kubernetes checks them. */}}
{{- define "memci.parts" -}}
api: { command: [python, -m, memci.http], port: 8000, alive: /healthz, ready: /readyz }
lane: { command: [celery, -A, workers, worker, -n, "lane@%h", -Q, memci.lane, -P, threads, -c, "8", --without-gossip, --without-mingle, -E], probe: true }
compress: { command: [celery, -A, workers, worker, -n, "compress@%h", -Q, memci.compress, -P, threads, -c, "4", --without-gossip, --without-mingle, -E], probe: true }
context: { command: [celery, -A, workers, worker, -n, "context@%h", -Q, memci.read, -P, threads, -c, "8", --without-gossip, --without-mingle, -E], probe: true }
upkeep: { command: [celery, -A, workers, worker, -n, "upkeep@%h", -Q, memci.upkeep, -P, threads, -c, "16", --without-gossip, --without-mingle, -E], probe: true }
beat: { command: [celery, -A, workers, beat] }
flower: { command: [python, -m, workers.flower], port: 5555, alive: /healthcheck, ready: /healthcheck }
{{- end }}

{{/* Labels of the pods of one part: (list $ "api"). Without a part, of all. */}}
{{- define "memci.labels" -}}
app.kubernetes.io/name: memci
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- with index . 1 }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{/* Variables of a container from the Secret: (list $ (list "MEMCI_…" …)). */}}
{{- define "memci.secrets" -}}
{{- $secret := (index . 0).Values.secret -}}
{{- range index . 1 }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ . }} } }
{{- end }}
{{- end }}

{{/* What all containers have. */}}
{{- define "memci.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
envFrom:
  - configMapRef: { name: {{ .Release.Name }} }
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
{{- end }}
