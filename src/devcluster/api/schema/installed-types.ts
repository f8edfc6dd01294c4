/**
 * Types of what charts install beside the kinds of builtin-types.ts (roles, workloads, budgets, webhook configurations) and of
 * the reviews that kubectl posts; the same notation, and their structs may name the ones there.
 */
export const installedTypes = `
PersistentVolumeClaimCondition type=1:s* status=2:s* lastProbeTime=3:t* lastTransitionTime=4:t* reason=5:s?
  message=6:s?
ModifyVolumeStatus targetVolumeAttributesClassName=1:s? status=2:s*
VolumeHealthStatus healthConditions=1:[VolumeHealthCondition](status,reason)@status? lastTransitionTime=2:t*
PersistentVolumeClaimStatus phase=1:s? accessModes=2:[s]? capacity=3:{q}?
  conditions=4:[PersistentVolumeClaimCondition](type)@type? allocatedResources=5:{q}?
  allocatedResourceStatuses=7:{s}? currentVolumeAttributesClassName=8:s modifyVolumeStatus=9:ModifyVolumeStatus
  healthStatus=10:VolumeHealthStatus
PersistentVolumeClaim metadata=1:ObjectMeta* spec=2:PersistentVolumeClaimSpec* status=3:PersistentVolumeClaimStatus*
ScopedResourceSelectorRequirement scopeName=1:s* operator=2:s* values=3:[s]?
ScopeSelector matchExpressions=1:[ScopedResourceSelectorRequirement]?
ResourceQuotaSpec hard=1:{q}? scopes=2:[s]? scopeSelector=3:ScopeSelector!
ResourceQuotaStatus hard=1:{q}? used=2:{q}?
ResourceQuota metadata=1:ObjectMeta* spec=2:ResourceQuotaSpec* status=3:ResourceQuotaStatus*
LimitRangeItem type=1:s* max=2:{q}? min=3:{q}? default=4:{q}? defaultRequest=5:{q}? maxLimitRequestRatio=6:{q}?
LimitRangeSpec limits=1:[LimitRangeItem]*
LimitRange metadata=1:ObjectMeta* spec=2:LimitRangeSpec*
PolicyRule verbs=1:[s]* apiGroups=2:[s]? resources=3:[s]? resourceNames=4:[s]? nonResourceURLs=5:[s]?
Role metadata=1:ObjectMeta* rules=2:[PolicyRule]*
Subject kind=1:s* apiGroup=2:s? name=3:s* namespace=4:s?
RoleRef apiGroup=1:s* kind=2:s* name=3:s*
RoleBinding metadata=1:ObjectMeta* subjects=2:[Subject!]? roleRef=3:RoleRef!*
AggregationRule clusterRoleSelectors=1:[LabelSelector!]?
ClusterRole metadata=1:ObjectMeta* rules=2:[PolicyRule]* aggregationRule=3:AggregationRule
ClusterRoleBinding metadata=1:ObjectMeta* subjects=2:[Subject!]? roleRef=3:RoleRef!*
PodDisruptionBudgetSpec minAvailable=1:o selector=2:LabelSelector! maxUnavailable=3:o unhealthyPodEvictionPolicy=4:s
PodDisruptionBudgetStatus observedGeneration=1:l? disruptedPods=2:{t}? disruptionsAllowed=3:i* currentHealthy=4:i*
  desiredHealthy=5:i* expectedPods=6:i* conditions=7:[Condition](type)@type?
PodDisruptionBudget metadata=1:ObjectMeta* spec=2:PodDisruptionBudgetSpec* status=3:PodDisruptionBudgetStatus*
NetworkPolicyPort protocol=1:s port=2:o endPort=3:i
IPBlock cidr=1:s* except=2:[s]?
NetworkPolicyPeer podSelector=1:LabelSelector! namespaceSelector=2:LabelSelector! ipBlock=3:IPBlock
NetworkPolicyIngressRule ports=1:[NetworkPolicyPort]? from=2:[NetworkPolicyPeer]?
NetworkPolicyEgressRule ports=1:[NetworkPolicyPort]? to=2:[NetworkPolicyPeer]?
NetworkPolicySpec podSelector=1:LabelSelector!* ingress=2:[NetworkPolicyIngressRule]?
  egress=3:[NetworkPolicyEgressRule]? policyTypes=4:[s]?
NetworkPolicy metadata=1:ObjectMeta* spec=2:NetworkPolicySpec*
PodFailurePolicyOnExitCodesRequirement containerName=1:s operator=2:s* values=3:[i]()*
PodFailurePolicyOnPodConditionsPattern type=1:s* status=2:s*
PodFailurePolicyRule action=1:s* onExitCodes=2:PodFailurePolicyOnExitCodesRequirement
  onPodConditions=3:[PodFailurePolicyOnPodConditionsPattern]?
PodFailurePolicy rules=1:[PodFailurePolicyRule]*
SuccessPolicyRule succeededIndexes=1:s succeededCount=2:i
SuccessPolicy rules=1:[SuccessPolicyRule]*
JobSpec parallelism=1:i completions=2:i activeDeadlineSeconds=3:l podFailurePolicy=11:PodFailurePolicy
  successPolicy=16:SuccessPolicy backoffLimit=7:i backoffLimitPerIndex=12:i maxFailedIndexes=13:i
  selector=4:LabelSelector! manualSelector=5:b template=6:PodTemplateSpec* ttlSecondsAfterFinished=8:i
  completionMode=9:s suspend=10:b podReplacementPolicy=14:s managedBy=15:s scheduling=17:x
JobCondition type=1:s* status=2:s* lastProbeTime=3:t* lastTransitionTime=4:t* reason=5:s? message=6:s?
UncountedTerminatedPods succeeded=1:[s]()? failed=2:[s]()?
JobStatus conditions=1:[JobCondition]@type? startTime=2:t completionTime=3:t active=4:i? succeeded=5:i? failed=6:i?
  terminating=11:i completedIndexes=7:s? failedIndexes=10:s uncountedTerminatedPods=8:UncountedTerminatedPods
  ready=9:i
Job metadata=1:ObjectMeta* spec=2:JobSpec* status=3:JobStatus*
JobTemplateSpec metadata=1:ObjectMeta* spec=2:JobSpec*
CronJobSpec schedule=1:s* timeZone=8:s startingDeadlineSeconds=2:l concurrencyPolicy=3:s? suspend=4:b
  jobTemplate=5:JobTemplateSpec* successfulJobsHistoryLimit=6:i failedJobsHistoryLimit=7:i
CronJobStatus active=1:[ObjectReference!]? lastScheduleTime=4:t lastSuccessfulTime=5:t
CronJob metadata=1:ObjectMeta* spec=2:CronJobSpec* status=3:CronJobStatus*
RollingUpdateDaemonSet maxUnavailable=1:o maxSurge=2:o
DaemonSetUpdateStrategy type=1:s? rollingUpdate=2:RollingUpdateDaemonSet
DaemonSetSpec selector=1:LabelSelector! template=2:PodTemplateSpec* updateStrategy=3:DaemonSetUpdateStrategy*
  minReadySeconds=4:i? revisionHistoryLimit=6:i
DaemonSetCondition type=1:s* status=2:s* lastTransitionTime=3:t* reason=4:s? message=5:s?
DaemonSetStatus currentNumberScheduled=1:i* numberMisscheduled=2:i* desiredNumberScheduled=3:i* numberReady=4:i*
  observedGeneration=5:l? updatedNumberScheduled=6:i? numberAvailable=7:i? numberUnavailable=8:i? collisionCount=9:i
  conditions=10:[DaemonSetCondition](type)@type?
DaemonSet metadata=1:ObjectMeta* spec=2:DaemonSetSpec* status=3:DaemonSetStatus*
RollingUpdateStatefulSetStrategy partition=1:i maxUnavailable=2:o
StatefulSetUpdateStrategy type=1:s? rollingUpdate=2:RollingUpdateStatefulSetStrategy
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted=1:s? whenScaled=2:s?
StatefulSetOrdinals start=1:i*
StatefulSetSpec replicas=1:i selector=2:LabelSelector! template=3:PodTemplateSpec*
  volumeClaimTemplates=4:[PersistentVolumeClaim]? serviceName=5:s* podManagementPolicy=6:s?
  updateStrategy=7:StatefulSetUpdateStrategy* revisionHistoryLimit=8:i minReadySeconds=9:i?
  persistentVolumeClaimRetentionPolicy=10:StatefulSetPersistentVolumeClaimRetentionPolicy
  ordinals=11:StatefulSetOrdinals
StatefulSetCondition type=1:s* status=2:s* lastTransitionTime=3:t* reason=4:s? message=5:s?
StatefulSetStatus observedGeneration=1:l? replicas=2:i* readyReplicas=3:i? currentReplicas=4:i? updatedReplicas=5:i?
  currentRevision=6:s? updateRevision=7:s? collisionCount=9:i conditions=10:[StatefulSetCondition](type)@type?
  availableReplicas=11:i*
StatefulSet metadata=1:ObjectMeta* spec=2:StatefulSetSpec* status=3:StatefulSetStatus*
CrossVersionObjectReference kind=1:s* name=2:s* apiVersion=3:s?
MetricTarget type=1:s* value=2:q averageValue=3:q averageUtilization=4:i
MetricIdentifier name=1:s* selector=2:LabelSelector!
ObjectMetricSource describedObject=1:CrossVersionObjectReference* target=2:MetricTarget* metric=3:MetricIdentifier*
PodsMetricSource metric=1:MetricIdentifier* target=2:MetricTarget*
ResourceMetricSource name=1:s* target=2:MetricTarget*
ContainerResourceMetricSource name=1:s* target=2:MetricTarget* container=3:s*
ExternalMetricSource metric=1:MetricIdentifier* target=2:MetricTarget*
MetricSpec type=1:s* object=2:ObjectMetricSource pods=3:PodsMetricSource resource=4:ResourceMetricSource
  containerResource=7:ContainerResourceMetricSource external=5:ExternalMetricSource
HPAScalingPolicy type=1:s* value=2:i* periodSeconds=3:i*
HPAScalingRules stabilizationWindowSeconds=3:i selectPolicy=1:s policies=2:[HPAScalingPolicy]? tolerance=4:q
HorizontalPodAutoscalerBehavior scaleUp=1:HPAScalingRules scaleDown=2:HPAScalingRules
HorizontalPodAutoscalerSpec scaleTargetRef=1:CrossVersionObjectReference* minReplicas=2:i maxReplicas=3:i*
  metrics=4:[MetricSpec]? behavior=5:HorizontalPodAutoscalerBehavior
MetricValueStatus value=1:q averageValue=2:q averageUtilization=3:i
ObjectMetricStatus metric=1:MetricIdentifier* current=2:MetricValueStatus*
  describedObject=3:CrossVersionObjectReference*
PodsMetricStatus metric=1:MetricIdentifier* current=2:MetricValueStatus*
ResourceMetricStatus name=1:s* current=2:MetricValueStatus*
ContainerResourceMetricStatus name=1:s* current=2:MetricValueStatus* container=3:s*
ExternalMetricStatus metric=1:MetricIdentifier* current=2:MetricValueStatus*
MetricStatus type=1:s* object=2:ObjectMetricStatus pods=3:PodsMetricStatus resource=4:ResourceMetricStatus
  containerResource=7:ContainerResourceMetricStatus external=5:ExternalMetricStatus
HorizontalPodAutoscalerCondition type=1:s* status=2:s* lastTransitionTime=3:t* reason=4:s? message=5:s?
  observedGeneration=6:l
HorizontalPodAutoscalerStatus observedGeneration=1:l lastScaleTime=2:t currentReplicas=3:i? desiredReplicas=4:i*
  currentMetrics=5:[MetricStatus]* conditions=6:[HorizontalPodAutoscalerCondition](type)@type?
HorizontalPodAutoscaler metadata=1:ObjectMeta* spec=2:HorizontalPodAutoscalerSpec*
  status=3:HorizontalPodAutoscalerStatus*
ServiceReference namespace=1:s* name=2:s* path=3:s port=4:i
WebhookClientConfig url=3:s service=1:ServiceReference caBundle=2:y?
Rule apiGroups=1:[s]? apiVersions=2:[s]? resources=3:[s]? scope=4:s
RuleWithOperations operations=1:[s]? ~Rule=2:Rule
MatchCondition name=1:s* expression=2:s*
ValidatingWebhook name=1:s* clientConfig=2:WebhookClientConfig* rules=3:[RuleWithOperations]? failurePolicy=4:s
  matchPolicy=9:s namespaceSelector=5:LabelSelector! objectSelector=10:LabelSelector! sideEffects=6:s
  timeoutSeconds=7:i admissionReviewVersions=8:[s]* matchConditions=11:[MatchCondition](name)@name?
ValidatingWebhookConfiguration metadata=1:ObjectMeta* webhooks=2:[ValidatingWebhook](name)@name?
MutatingWebhook name=1:s* clientConfig=2:WebhookClientConfig* rules=3:[RuleWithOperations]? failurePolicy=4:s
  matchPolicy=9:s namespaceSelector=5:LabelSelector! objectSelector=11:LabelSelector! sideEffects=6:s
  timeoutSeconds=7:i admissionReviewVersions=8:[s]* reinvocationPolicy=10:s
  matchConditions=12:[MatchCondition](name)@name?
MutatingWebhookConfiguration metadata=1:ObjectMeta* webhooks=2:[MutatingWebhook](name)@name?
PriorityClass metadata=1:ObjectMeta* value=2:i* globalDefault=3:b? description=4:s? preemptionPolicy=5:s
BoundObjectReference kind=1:s? apiVersion=2:s? name=3:s? uid=4:s?
TokenRequestSpec audiences=1:[s]* expirationSeconds=4:l boundObjectRef=3:BoundObjectReference attestations=5:{[s]}?
TokenRequestStatus token=1:s* expirationTimestamp=2:t*
TokenRequest metadata=1:ObjectMeta* spec=2:TokenRequestSpec* status=3:TokenRequestStatus*
FieldSelectorAttributes rawSelector=1:s? requirements=2:[x]?
LabelSelectorAttributes rawSelector=1:s? requirements=2:[LabelSelectorRequirement]?
ResourceAttributes namespace=1:s? verb=2:s? group=3:s? version=4:s? resource=5:s? subresource=6:s? name=7:s?
  fieldSelector=8:FieldSelectorAttributes labelSelector=9:LabelSelectorAttributes
NonResourceAttributes path=1:s? verb=2:s?
SelfSubjectAccessReviewSpec resourceAttributes=1:ResourceAttributes nonResourceAttributes=2:NonResourceAttributes
SubjectAccessReviewStatus allowed=1:b* denied=4:b? reason=2:s? evaluationError=3:s?
SelfSubjectAccessReview metadata=1:ObjectMeta* spec=2:SelfSubjectAccessReviewSpec*
  status=3:SubjectAccessReviewStatus*
SubjectAccessReviewSpec resourceAttributes=1:ResourceAttributes nonResourceAttributes=2:NonResourceAttributes
  user=3:s? groups=4:[s]? extra=5:{[s]}? uid=6:s?
SubjectAccessReview metadata=1:ObjectMeta* spec=2:SubjectAccessReviewSpec* status=3:SubjectAccessReviewStatus*
TokenReviewSpec token=1:s? audiences=2:[s]?
UserInfo username=1:s? uid=2:s? groups=3:[s]? extra=4:{[s]}?
TokenReviewStatus authenticated=1:b? user=2:UserInfo* audiences=4:[s]? error=3:s?
TokenReview metadata=1:ObjectMeta* spec=2:TokenReviewSpec* status=3:TokenReviewStatus*
ResourceRule verbs=1:[s]* apiGroups=2:[s]? resources=3:[s]? resourceNames=4:[s]?
NonResourceRule verbs=1:[s]* nonResourceURLs=2:[s]?
SubjectRulesReviewStatus resourceRules=1:[ResourceRule]* nonResourceRules=2:[NonResourceRule]* incomplete=3:b*
  evaluationError=4:s?
SelfSubjectRulesReviewSpec namespace=1:s?
SelfSubjectRulesReview metadata=1:ObjectMeta* spec=2:SelfSubjectRulesReviewSpec* status=3:SubjectRulesReviewStatus*
SelfSubjectReviewStatus userInfo=1:UserInfo*
SelfSubjectReview metadata=1:ObjectMeta* status=2:SelfSubjectReviewStatus*
LocalSubjectAccessReview metadata=1:ObjectMeta* spec=2:SubjectAccessReviewSpec* status=3:SubjectAccessReviewStatus*
`;
