/**
 * The built-in types of Kubernetes 1.37 that the embedded API serves, in a compact notation (read by compact-types.ts).
 * A line `Name field=NUMBER:TYPE…` is one struct, an indented line goes on. NUMBER is the protobuf field number.
 * TYPE: s string, b bool, i int32, l int64, f double, y bytes, t Time, u MicroTime, q Quantity, o IntOrString, x anything,
 * [T] list, {T} map, else a struct's name; `~Name` is an inlined struct. Suffixes: `()` set, `(a,b)` list map by these keys,
 * `@key` merged by key in a strategic merge patch (`@` alone: as a set), `!` atomic, `^` retainKeys; then how Go writes it:
 * `*` always, `?` unless empty, neither: a pointer, written when it is set.
 */
export const builtinTypes = `
OwnerReference apiVersion=5:s* kind=1:s* name=3:s* uid=4:s* controller=6:b blockOwnerDeletion=7:b
ManagedFieldsEntry manager=1:s? operation=2:s? apiVersion=3:s? time=4:t fieldsType=6:s? fieldsV1=7:x
  subresource=8:s?
ObjectMeta name=1:s? generateName=2:s? namespace=3:s? selfLink=4:s? uid=5:s? resourceVersion=6:s? generation=7:l?
  creationTimestamp=8:t? deletionTimestamp=9:t deletionGracePeriodSeconds=10:l labels=11:{s}? annotations=12:{s}?
  ownerReferences=13:[OwnerReference!](uid)@uid? finalizers=14:[s]()@? managedFields=17:[ManagedFieldsEntry]?
NamespaceSpec finalizers=1:[s]?
NamespaceCondition type=1:s* status=2:s* lastTransitionTime=4:t* reason=5:s? message=6:s?
NamespaceStatus phase=1:s? conditions=2:[NamespaceCondition](type)@type?
Namespace metadata=1:ObjectMeta* spec=2:NamespaceSpec* status=3:NamespaceStatus*
ConfigMap metadata=1:ObjectMeta* immutable=4:b data=2:{s}? binaryData=3:{y}?
Secret metadata=1:ObjectMeta* immutable=5:b data=2:{y}? stringData=4:{s}? type=3:s?
ServicePort name=1:s? protocol=2:s? appProtocol=6:s port=3:i* targetPort=4:o* nodePort=5:i?
ClientIPConfig timeoutSeconds=1:i
SessionAffinityConfig clientIP=1:ClientIPConfig
ServiceSpec ports=1:[ServicePort](port,protocol)@port? selector=2:{s}!? clusterIP=3:s? clusterIPs=18:[s]? type=4:s?
  externalIPs=5:[s]? sessionAffinity=7:s? loadBalancerIP=8:s? loadBalancerSourceRanges=9:[s]? externalName=10:s?
  externalTrafficPolicy=11:s? healthCheckNodePort=12:i? publishNotReadyAddresses=13:b?
  sessionAffinityConfig=14:SessionAffinityConfig ipFamilies=19:[s]? ipFamilyPolicy=17:s
  allocateLoadBalancerNodePorts=20:b loadBalancerClass=21:s internalTrafficPolicy=22:s trafficDistribution=23:s
PortStatus port=1:i* protocol=2:s* error=3:s
LoadBalancerIngress ip=1:s? hostname=2:s? ipMode=3:s ports=4:[PortStatus]?
LoadBalancerStatus ingress=1:[LoadBalancerIngress]?
Condition type=1:s* status=2:s* observedGeneration=3:l? lastTransitionTime=4:t* reason=5:s* message=6:s*
ServiceStatus loadBalancer=1:LoadBalancerStatus* conditions=2:[Condition](type)@type?
Service metadata=1:ObjectMeta* spec=2:ServiceSpec* status=3:ServiceStatus*
ObjectReference kind=1:s? namespace=2:s? name=3:s? uid=4:s? apiVersion=5:s? resourceVersion=6:s? fieldPath=7:s?
LocalObjectReference name=1:s?
ServiceAccount metadata=1:ObjectMeta* secrets=2:[ObjectReference!](name)@name?
  imagePullSecrets=3:[LocalObjectReference!]? automountServiceAccountToken=4:b
HostPathVolumeSource path=1:s* type=2:s
EmptyDirVolumeSource medium=1:s? sizeLimit=2:q mode=3:i
GCEPersistentDiskVolumeSource pdName=1:s* fsType=2:s? partition=3:i? readOnly=4:b?
AWSElasticBlockStoreVolumeSource volumeID=1:s* fsType=2:s? partition=3:i? readOnly=4:b?
GitRepoVolumeSource repository=1:s* revision=2:s? directory=3:s?
KeyToPath key=1:s* path=2:s* mode=3:i user=4:l
SecretVolumeSource secretName=1:s? items=2:[KeyToPath]? defaultMode=3:i optional=4:b defaultUser=5:l
NFSVolumeSource server=1:s* path=2:s* readOnly=3:b?
ISCSIVolumeSource targetPortal=1:s* iqn=2:s* lun=3:i* iscsiInterface=4:s? fsType=5:s? readOnly=6:b? portals=7:[s]?
  chapAuthDiscovery=8:b? chapAuthSession=11:b? secretRef=10:LocalObjectReference! initiatorName=12:s
GlusterfsVolumeSource endpoints=1:s* path=2:s* readOnly=3:b?
PersistentVolumeClaimVolumeSource claimName=1:s* readOnly=2:b?
RBDVolumeSource monitors=1:[s]* image=2:s* fsType=3:s? pool=4:s? user=5:s? keyring=6:s?
  secretRef=7:LocalObjectReference! readOnly=8:b?
FlexVolumeSource driver=1:s* fsType=2:s? secretRef=3:LocalObjectReference! readOnly=4:b? options=5:{s}?
CinderVolumeSource volumeID=1:s* fsType=2:s? readOnly=3:b? secretRef=4:LocalObjectReference!
CephFSVolumeSource monitors=1:[s]* path=2:s? user=3:s? secretFile=4:s? secretRef=5:LocalObjectReference!
  readOnly=6:b?
FlockerVolumeSource datasetName=1:s? datasetUUID=2:s?
ObjectFieldSelector apiVersion=1:s? fieldPath=2:s*
ResourceFieldSelector containerName=1:s? resource=2:s* divisor=3:q*
DownwardAPIVolumeFile path=1:s* fieldRef=2:ObjectFieldSelector! resourceFieldRef=3:ResourceFieldSelector! mode=4:i
  user=5:l
DownwardAPIVolumeSource items=1:[DownwardAPIVolumeFile]? defaultMode=2:i defaultUser=3:l
FCVolumeSource targetWWNs=1:[s]? lun=2:i fsType=3:s? readOnly=4:b? wwids=5:[s]?
AzureFileVolumeSource secretName=1:s* shareName=2:s* readOnly=3:b?
ConfigMapVolumeSource ~LocalObjectReference=1:LocalObjectReference items=2:[KeyToPath]? defaultMode=3:i optional=4:b
  defaultUser=5:l
VsphereVirtualDiskVolumeSource volumePath=1:s* fsType=2:s? storagePolicyName=3:s? storagePolicyID=4:s?
QuobyteVolumeSource registry=1:s* volume=2:s* readOnly=3:b? user=4:s? group=5:s? tenant=6:s?
AzureDiskVolumeSource diskName=1:s* diskURI=2:s* cachingMode=3:s fsType=4:s readOnly=5:b kind=6:s
PhotonPersistentDiskVolumeSource pdID=1:s* fsType=2:s?
SecretProjection ~LocalObjectReference=1:LocalObjectReference items=2:[KeyToPath]? optional=4:b
DownwardAPIProjection items=1:[DownwardAPIVolumeFile]?
ConfigMapProjection ~LocalObjectReference=1:LocalObjectReference items=2:[KeyToPath]? optional=4:b
ServiceAccountTokenProjection audience=1:s? expirationSeconds=2:l path=3:s* user=4:l
LabelSelectorRequirement key=1:s* operator=2:s* values=3:[s]?
LabelSelector matchLabels=1:{s}? matchExpressions=2:[LabelSelectorRequirement]?
ClusterTrustBundleProjection name=1:s signerName=2:s labelSelector=3:LabelSelector! optional=5:b path=4:s* user=6:l
PodCertificateProjection signerName=1:s? keyType=2:s? maxExpirationSeconds=3:i credentialBundlePath=4:s?
  keyPath=5:s? certificateChainPath=6:s? userAnnotations=7:{s}? user=8:l
VolumeProjection secret=1:SecretProjection downwardAPI=2:DownwardAPIProjection configMap=3:ConfigMapProjection
  serviceAccountToken=4:ServiceAccountTokenProjection clusterTrustBundle=5:ClusterTrustBundleProjection
  podCertificate=6:PodCertificateProjection
ProjectedVolumeSource sources=1:[VolumeProjection]* defaultMode=2:i defaultUser=3:l
PortworxVolumeSource volumeID=1:s* fsType=2:s? readOnly=3:b?
ScaleIOVolumeSource gateway=1:s* system=2:s* secretRef=3:LocalObjectReference! sslEnabled=4:b? protectionDomain=5:s?
  storagePool=6:s? storageMode=7:s? volumeName=8:s? fsType=9:s? readOnly=10:b?
StorageOSVolumeSource volumeName=1:s? volumeNamespace=2:s? fsType=3:s? readOnly=4:b?
  secretRef=5:LocalObjectReference!
CSIVolumeSource driver=1:s* readOnly=2:b fsType=3:s volumeAttributes=4:{s}?
  nodePublishSecretRef=5:LocalObjectReference!
VolumeResourceRequirements limits=1:{q}? requests=2:{q}?
TypedLocalObjectReference apiGroup=1:s kind=2:s* name=3:s*
TypedObjectReference apiGroup=1:s kind=2:s* name=3:s* namespace=4:s
PersistentVolumeClaimSpec accessModes=1:[s]? selector=4:LabelSelector! resources=2:VolumeResourceRequirements*
  volumeName=3:s? storageClassName=5:s volumeMode=6:s dataSource=7:TypedLocalObjectReference!
  dataSourceRef=8:TypedObjectReference volumeAttributesClassName=9:s
PersistentVolumeClaimTemplate metadata=1:ObjectMeta* spec=2:PersistentVolumeClaimSpec*
EphemeralVolumeSource volumeClaimTemplate=1:PersistentVolumeClaimTemplate
ImageVolumeSource reference=1:s? pullPolicy=2:s?
VolumeSource hostPath=1:HostPathVolumeSource emptyDir=2:EmptyDirVolumeSource
  gcePersistentDisk=3:GCEPersistentDiskVolumeSource awsElasticBlockStore=4:AWSElasticBlockStoreVolumeSource
  gitRepo=5:GitRepoVolumeSource secret=6:SecretVolumeSource nfs=7:NFSVolumeSource iscsi=8:ISCSIVolumeSource
  glusterfs=9:GlusterfsVolumeSource persistentVolumeClaim=10:PersistentVolumeClaimVolumeSource
  rbd=11:RBDVolumeSource flexVolume=12:FlexVolumeSource cinder=13:CinderVolumeSource cephfs=14:CephFSVolumeSource
  flocker=15:FlockerVolumeSource downwardAPI=16:DownwardAPIVolumeSource fc=17:FCVolumeSource
  azureFile=18:AzureFileVolumeSource configMap=19:ConfigMapVolumeSource
  vsphereVolume=20:VsphereVirtualDiskVolumeSource quobyte=21:QuobyteVolumeSource azureDisk=22:AzureDiskVolumeSource
  photonPersistentDisk=23:PhotonPersistentDiskVolumeSource projected=26:ProjectedVolumeSource
  portworxVolume=24:PortworxVolumeSource scaleIO=25:ScaleIOVolumeSource storageos=27:StorageOSVolumeSource
  csi=28:CSIVolumeSource ephemeral=29:EphemeralVolumeSource image=30:ImageVolumeSource
Volume name=1:s* ~VolumeSource=2:VolumeSource
ContainerPort name=1:s? hostPort=2:i? containerPort=3:i* protocol=4:s? hostIP=5:s?
ConfigMapEnvSource ~LocalObjectReference=1:LocalObjectReference optional=2:b
SecretEnvSource ~LocalObjectReference=1:LocalObjectReference optional=2:b
EnvFromSource prefix=1:s? configMapRef=2:ConfigMapEnvSource secretRef=3:SecretEnvSource
ConfigMapKeySelector ~LocalObjectReference=1:LocalObjectReference key=2:s* optional=3:b
SecretKeySelector ~LocalObjectReference=1:LocalObjectReference key=2:s* optional=3:b
FileKeySelector volumeName=1:s* path=2:s* key=3:s* optional=4:b
EnvVarSource fieldRef=1:ObjectFieldSelector! resourceFieldRef=2:ResourceFieldSelector!
  configMapKeyRef=3:ConfigMapKeySelector! secretKeyRef=4:SecretKeySelector! fileKeyRef=5:FileKeySelector!
EnvVar name=1:s* value=2:s? valueFrom=3:EnvVarSource
ResourceClaim name=1:s* request=2:s?
ResourceRequirements limits=1:{q}? requests=2:{q}? claims=3:[ResourceClaim](name)?
ContainerResizePolicy resourceName=1:s* restartPolicy=2:s*
ContainerRestartRuleOnExitCodes operator=1:s? values=2:[i]()?
ContainerRestartRule action=1:s? exitCodes=2:ContainerRestartRuleOnExitCodes
VolumeMount name=1:s* readOnly=2:b? recursiveReadOnly=7:s mountPath=3:s* subPath=4:s? mountPropagation=5:s
  subPathExpr=6:s? bindMountOptions=8:[s]()?
VolumeDevice name=1:s* devicePath=2:s*
ExecAction command=1:[s]?
HTTPHeader name=1:s* value=2:s*
HTTPGetAction path=1:s? port=2:o* host=3:s? scheme=4:s? httpHeaders=5:[HTTPHeader]? protocol=6:s
TCPSocketAction port=1:o* host=2:s?
GRPCAction port=1:i* service=2:s mode=3:s
ProbeHandler exec=1:ExecAction httpGet=2:HTTPGetAction tcpSocket=3:TCPSocketAction grpc=4:GRPCAction
Probe ~ProbeHandler=1:ProbeHandler initialDelaySeconds=2:i? timeoutSeconds=3:i? periodSeconds=4:i?
  successThreshold=5:i? failureThreshold=6:i? terminationGracePeriodSeconds=7:l
SleepAction seconds=1:l*
LifecycleHandler exec=1:ExecAction httpGet=2:HTTPGetAction tcpSocket=3:TCPSocketAction sleep=4:SleepAction
Lifecycle postStart=1:LifecycleHandler preStop=2:LifecycleHandler stopSignal=3:s
Capabilities add=1:[s]? drop=2:[s]?
SELinuxOptions user=1:s? role=2:s? type=3:s? level=4:s?
WindowsSecurityContextOptions gmsaCredentialSpecName=1:s gmsaCredentialSpec=2:s runAsUserName=3:s hostProcess=4:b
SeccompProfile type=1:s* localhostProfile=2:s
AppArmorProfile type=1:s* localhostProfile=2:s
SecurityContext capabilities=1:Capabilities privileged=2:b seLinuxOptions=3:SELinuxOptions
  windowsOptions=10:WindowsSecurityContextOptions runAsUser=4:l runAsGroup=8:l runAsNonRoot=5:b
  readOnlyRootFilesystem=6:b allowPrivilegeEscalation=7:b procMount=9:s seccompProfile=11:SeccompProfile
  appArmorProfile=12:AppArmorProfile
Container name=1:s* image=2:s? command=3:[s]? args=4:[s]? workingDir=5:s?
  ports=6:[ContainerPort](containerPort,protocol)@containerPort? envFrom=19:[EnvFromSource]?
  env=7:[EnvVar](name)@name? resources=8:ResourceRequirements* resizePolicy=23:[ContainerResizePolicy]?
  restartPolicy=24:s restartPolicyRules=25:[ContainerRestartRule]?
  volumeMounts=9:[VolumeMount](mountPath)@mountPath? volumeDevices=21:[VolumeDevice](devicePath)@devicePath?
  livenessProbe=10:Probe readinessProbe=11:Probe startupProbe=22:Probe lifecycle=12:Lifecycle
  terminationMessagePath=13:s? terminationMessagePolicy=20:s? imagePullPolicy=14:s?
  securityContext=15:SecurityContext stdin=16:b? stdinOnce=17:b? tty=18:b?
EphemeralContainerCommon name=1:s* image=2:s? command=3:[s]? args=4:[s]? workingDir=5:s?
  ports=6:[ContainerPort](containerPort,protocol)@containerPort? envFrom=19:[EnvFromSource]?
  env=7:[EnvVar](name)@name? resources=8:ResourceRequirements* resizePolicy=23:[ContainerResizePolicy]?
  restartPolicy=24:s restartPolicyRules=25:[ContainerRestartRule]?
  volumeMounts=9:[VolumeMount](mountPath)@mountPath? volumeDevices=21:[VolumeDevice](devicePath)@devicePath?
  livenessProbe=10:Probe readinessProbe=11:Probe startupProbe=22:Probe lifecycle=12:Lifecycle
  terminationMessagePath=13:s? terminationMessagePolicy=20:s? imagePullPolicy=14:s?
  securityContext=15:SecurityContext stdin=16:b? stdinOnce=17:b? tty=18:b?
EphemeralContainer ~EphemeralContainerCommon=1:EphemeralContainerCommon targetContainerName=2:s?
Sysctl name=1:s* value=2:s*
PodSecurityContext seLinuxOptions=1:SELinuxOptions windowsOptions=8:WindowsSecurityContextOptions runAsUser=2:l
  runAsGroup=6:l runAsNonRoot=3:b supplementalGroups=4:[l]? supplementalGroupsPolicy=12:s fsGroup=5:l
  sysctls=7:[Sysctl]? fsGroupChangePolicy=9:s seccompProfile=10:SeccompProfile appArmorProfile=11:AppArmorProfile
  seLinuxChangePolicy=13:s
NodeSelectorRequirement key=1:s* operator=2:s* values=3:[s]?
NodeSelectorTerm matchExpressions=1:[NodeSelectorRequirement]? matchFields=2:[NodeSelectorRequirement]?
NodeSelector nodeSelectorTerms=1:[NodeSelectorTerm!]*
PreferredSchedulingTerm weight=1:i* preference=2:NodeSelectorTerm!*
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution=1:NodeSelector!
  preferredDuringSchedulingIgnoredDuringExecution=2:[PreferredSchedulingTerm]?
PodAffinityTerm labelSelector=1:LabelSelector! namespaces=2:[s]? topologyKey=3:s* namespaceSelector=4:LabelSelector!
  matchLabelKeys=5:[s]? mismatchLabelKeys=6:[s]?
WeightedPodAffinityTerm weight=1:i* podAffinityTerm=2:PodAffinityTerm*
PodAffinity requiredDuringSchedulingIgnoredDuringExecution=1:[PodAffinityTerm]?
  preferredDuringSchedulingIgnoredDuringExecution=2:[WeightedPodAffinityTerm]?
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution=1:[PodAffinityTerm]?
  preferredDuringSchedulingIgnoredDuringExecution=2:[WeightedPodAffinityTerm]?
Affinity nodeAffinity=1:NodeAffinity podAffinity=2:PodAffinity podAntiAffinity=3:PodAntiAffinity
Toleration key=1:s? operator=2:s? value=3:s? effect=4:s? tolerationSeconds=5:l
HostAlias ip=1:s* hostnames=2:[s]?
PodDNSConfigOption name=1:s? value=2:s
PodDNSConfig nameservers=1:[s]? searches=2:[s]? options=3:[PodDNSConfigOption]?
PodReadinessGate conditionType=1:s*
TopologySpreadConstraint maxSkew=1:i* topologyKey=2:s* whenUnsatisfiable=3:s* labelSelector=4:LabelSelector!
  minDomains=5:i nodeAffinityPolicy=6:s nodeTaintsPolicy=7:s matchLabelKeys=8:[s]?
PodOS name=1:s*
PodSchedulingGate name=1:s*
PodResourceClaim name=1:s* resourceClaimName=3:s resourceClaimTemplateName=4:s
PodSchedulingGroup podGroupName=1:s
EvictionResponder name=1:s* priority=2:i
PodSpec volumes=1:[Volume](name)@name^? initContainers=20:[Container](name)@name?
  containers=2:[Container](name)@name* ephemeralContainers=34:[EphemeralContainer](name)@name? restartPolicy=3:s?
  terminationGracePeriodSeconds=4:l activeDeadlineSeconds=5:l dnsPolicy=6:s? nodeSelector=7:{s}!?
  serviceAccountName=8:s? serviceAccount=9:s? automountServiceAccountToken=21:b nodeName=10:s? hostNetwork=11:b?
  hostPID=12:b? hostIPC=13:b? shareProcessNamespace=27:b securityContext=14:PodSecurityContext
  imagePullSecrets=15:[LocalObjectReference!](name)@name? hostname=16:s? subdomain=17:s? affinity=18:Affinity
  schedulerName=19:s? tolerations=22:[Toleration]? hostAliases=23:[HostAlias](ip)@ip? priorityClassName=24:s?
  priority=25:i dnsConfig=26:PodDNSConfig readinessGates=28:[PodReadinessGate]? runtimeClassName=29:s
  enableServiceLinks=30:b preemptionPolicy=31:s overhead=32:{q}?
  topologySpreadConstraints=33:[TopologySpreadConstraint](topologyKey,whenUnsatisfiable)@topologyKey?
  setHostnameAsFQDN=35:b os=36:PodOS hostUsers=37:b schedulingGates=38:[PodSchedulingGate](name)@name?
  resourceClaims=39:[PodResourceClaim](name)@name^? resources=40:ResourceRequirements hostnameOverride=41:s
  schedulingGroup=43:PodSchedulingGroup evictionResponders=44:[EvictionResponder!](name)@name?
PodCondition type=1:s* observedGeneration=7:l? status=2:s* lastProbeTime=3:t* lastTransitionTime=4:t* reason=5:s?
  message=6:s?
HostIP ip=1:s*
PodIP ip=1:s*
ContainerStateWaiting reason=1:s? message=2:s?
ContainerStateRunning startedAt=1:t*
ContainerStateTerminated exitCode=1:i* signal=2:i? reason=3:s? message=4:s? startedAt=5:t* finishedAt=6:t*
  containerID=7:s?
ContainerState waiting=1:ContainerStateWaiting running=2:ContainerStateRunning terminated=3:ContainerStateTerminated
ImageVolumeStatus imageRef=1:s?
VolumeStatus image=1:ImageVolumeStatus
VolumeMountStatus name=1:s* mountPath=2:s* readOnly=3:b? recursiveReadOnly=4:s volumeStatus=5:VolumeStatus
LinuxContainerUser uid=1:l* gid=2:l* supplementalGroups=3:[l]?
ContainerUser linux=1:LinuxContainerUser
ResourceHealth resourceID=1:s* health=2:s? message=6:s
ResourceStatus name=1:s* resources=2:[ResourceHealth](resourceID)?
ContainerStatus name=1:s* state=2:ContainerState* lastState=3:ContainerState* ready=4:b* restartCount=5:i*
  image=6:s* imageID=7:s* containerID=8:s? started=9:b allocatedResources=10:{q}? resources=11:ResourceRequirements
  volumeMounts=12:[VolumeMountStatus](mountPath)@mountPath? user=13:ContainerUser
  allocatedResourcesStatus=14:[ResourceStatus](name)@name? stopSignal=15:s
PodResourceClaimStatus name=1:s* resourceClaimName=2:s
ContainerExtendedResourceRequest containerName=1:s* resourceName=2:s* requestName=3:s*
PodExtendedResourceClaimStatus requestMappings=1:[ContainerExtendedResourceRequest]* resourceClaimName=2:s*
NodeAllocatableMappedResources name=1:s* quantity=2:q
NodeAllocatableOverheadResources name=1:s* perPod=2:q perContainer=3:q
NodeAllocatableResourceClaimStatus resourceClaimName=1:s* containers=2:[s]()?
  mapping=4:[NodeAllocatableMappedResources](name)@name? overhead=5:[NodeAllocatableOverheadResources](name)@name?
VolumeHealthCondition status=1:s* reason=2:s* message=3:s?
PodVolumeHealth name=1:s* healthConditions=2:[VolumeHealthCondition](status,reason)@status? lastTransitionTime=3:t*
PodStatus observedGeneration=17:l? phase=1:s? conditions=2:[PodCondition](type)@type? message=3:s? reason=4:s?
  nominatedNodeName=11:s? hostIP=5:s? hostIPs=16:[HostIP]@ip? podIP=6:s? podIPs=12:[PodIP](ip)@ip? startTime=7:t
  initContainerStatuses=10:[ContainerStatus]? containerStatuses=8:[ContainerStatus]? qosClass=9:s?
  ephemeralContainerStatuses=13:[ContainerStatus]? resize=14:s?
  resourceClaimStatuses=15:[PodResourceClaimStatus](name)@name^?
  extendedResourceClaimStatus=18:PodExtendedResourceClaimStatus allocatedResources=19:{q}?
  resources=20:ResourceRequirements
  nodeAllocatableResourceClaimStatuses=21:[NodeAllocatableResourceClaimStatus](resourceClaimName)@resourceClaimName?
  volumeHealth=22:[PodVolumeHealth](name)?
Pod metadata=1:ObjectMeta* spec=2:PodSpec* status=3:PodStatus*
Taint key=1:s* value=2:s? effect=3:s* timeAdded=4:t
ConfigMapNodeConfigSource namespace=1:s* name=2:s* uid=3:s? resourceVersion=4:s? kubeletConfigKey=5:s*
NodeConfigSource configMap=2:ConfigMapNodeConfigSource
NodePodPreemptionPolicy disableResizePreemption=1:[s]()?
NodeSpec podCIDR=1:s? podCIDRs=7:[s]()@? providerID=3:s? unschedulable=4:b? taints=5:[Taint]?
  configSource=6:NodeConfigSource externalID=2:s? podPreemptionPolicy=8:NodePodPreemptionPolicy
NodeCondition type=1:s* status=2:s* lastHeartbeatTime=3:t* lastTransitionTime=4:t* reason=5:s? message=6:s?
NodeAddress type=1:s* address=2:s*
DaemonEndpoint Port=1:i*
NodeDaemonEndpoints kubeletEndpoint=1:DaemonEndpoint*
NodeSwapStatus capacity=1:l
NodeSystemInfo machineID=1:s* systemUUID=2:s* bootID=3:s* kernelVersion=4:s* osImage=5:s*
  containerRuntimeVersion=6:s* kubeletVersion=7:s* kubeProxyVersion=8:s* operatingSystem=9:s* architecture=10:s*
  swap=11:NodeSwapStatus runningInUserNamespace=12:b
ContainerImage names=1:[s]* sizeBytes=2:l?
AttachedVolume name=1:s* devicePath=2:s*
NodeConfigStatus assigned=1:NodeConfigSource active=2:NodeConfigSource lastKnownGood=3:NodeConfigSource error=4:s?
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts=1:b userNamespaces=2:b
NodeRuntimeHandler name=1:s* features=2:NodeRuntimeHandlerFeatures
NodeFeatures supplementalGroupsPolicy=1:b
NodeStatus capacity=1:{q}? allocatable=2:{q}? phase=3:s? conditions=4:[NodeCondition](type)@type?
  addresses=5:[NodeAddress](type)@type? daemonEndpoints=6:NodeDaemonEndpoints* nodeInfo=7:NodeSystemInfo*
  images=8:[ContainerImage]? volumesInUse=9:[s]? volumesAttached=10:[AttachedVolume]? config=11:NodeConfigStatus
  runtimeHandlers=12:[NodeRuntimeHandler]? features=13:NodeFeatures declaredFeatures=14:[s]?
Node metadata=1:ObjectMeta* spec=2:NodeSpec* status=3:NodeStatus*
EndpointAddress ip=1:s* hostname=3:s? nodeName=4:s targetRef=2:ObjectReference!
EndpointPort name=1:s? port=2:i* protocol=3:s? appProtocol=4:s
EndpointSubset addresses=1:[EndpointAddress!]? notReadyAddresses=2:[EndpointAddress!]? ports=3:[EndpointPort!]?
Endpoints metadata=1:ObjectMeta* subsets=2:[EndpointSubset]?
EventSource component=1:s? host=2:s?
EventSeries count=1:i? lastObservedTime=2:u*
Event metadata=1:ObjectMeta* involvedObject=2:ObjectReference!* reason=3:s? message=4:s? source=5:EventSource*
  firstTimestamp=6:t* lastTimestamp=7:t* count=8:i? type=9:s? eventTime=10:u* series=11:EventSeries action=12:s?
  related=13:ObjectReference! reportingComponent=14:s* reportingInstance=15:s*
events.EventSeries count=1:i* lastObservedTime=2:u*
events.Event metadata=1:ObjectMeta* eventTime=2:u* series=3:events.EventSeries reportingController=4:s?
  reportingInstance=5:s? action=6:s? reason=7:s? regarding=8:ObjectReference!* related=9:ObjectReference! note=10:s?
  type=11:s? deprecatedSource=12:EventSource* deprecatedFirstTimestamp=13:t* deprecatedLastTimestamp=14:t*
  deprecatedCount=15:i?
EndpointConditions ready=1:b serving=2:b terminating=3:b
ForZone name=1:s*
ForNode name=1:s*
EndpointHints forZones=1:[ForZone]? forNodes=2:[ForNode]?
Endpoint addresses=1:[s]()* conditions=2:EndpointConditions* hostname=3:s targetRef=4:ObjectReference!
  deprecatedTopology=5:{s}? nodeName=6:s zone=7:s hints=8:EndpointHints
discovery.EndpointPort name=1:s protocol=2:s port=3:i appProtocol=4:s
EndpointSlice metadata=1:ObjectMeta* addressType=4:s* endpoints=2:[Endpoint]* ports=3:[discovery.EndpointPort!]*
ServiceBackendPort name=1:s? number=2:i?
IngressServiceBackend name=1:s* port=2:ServiceBackendPort!*
IngressBackend service=4:IngressServiceBackend resource=3:TypedLocalObjectReference!
IngressTLS hosts=1:[s]? secretName=2:s?
HTTPIngressPath path=1:s? pathType=3:s backend=2:IngressBackend*
HTTPIngressRuleValue paths=1:[HTTPIngressPath]*
IngressRuleValue http=1:HTTPIngressRuleValue
IngressRule host=1:s? ~IngressRuleValue=2:IngressRuleValue
IngressSpec ingressClassName=4:s defaultBackend=1:IngressBackend tls=2:[IngressTLS]? rules=3:[IngressRule]?
IngressPortStatus port=1:i* protocol=2:s* error=3:s
IngressLoadBalancerIngress ip=1:s? hostname=2:s? ports=4:[IngressPortStatus]?
IngressLoadBalancerStatus ingress=1:[IngressLoadBalancerIngress]?
IngressStatus loadBalancer=1:IngressLoadBalancerStatus*
Ingress metadata=1:ObjectMeta* spec=2:IngressSpec* status=3:IngressStatus*
IngressClassParametersReference apiGroup=1:s kind=2:s* name=3:s* scope=4:s namespace=5:s
IngressClassSpec controller=1:s? parameters=2:IngressClassParametersReference
IngressClass metadata=1:ObjectMeta* spec=2:IngressClassSpec*
LeaseSpec holderIdentity=1:s leaseDurationSeconds=2:i acquireTime=3:u renewTime=4:u leaseTransitions=5:i
  strategy=6:s preferredHolder=7:s
Lease metadata=1:ObjectMeta* spec=2:LeaseSpec*
PodTemplateSpec metadata=1:ObjectMeta* spec=2:PodSpec*
RollingUpdateDeployment maxUnavailable=1:o maxSurge=2:o
DeploymentStrategy type=1:s? rollingUpdate=2:RollingUpdateDeployment
DeploymentSpec replicas=1:i selector=2:LabelSelector! template=3:PodTemplateSpec* strategy=4:DeploymentStrategy^*
  minReadySeconds=5:i? revisionHistoryLimit=6:i paused=7:b? progressDeadlineSeconds=9:i
DeploymentCondition type=1:s* status=2:s* lastUpdateTime=6:t* lastTransitionTime=7:t* reason=4:s? message=5:s?
DeploymentStatus observedGeneration=1:l? replicas=2:i? updatedReplicas=3:i? readyReplicas=7:i?
  availableReplicas=4:i? unavailableReplicas=5:i? terminatingReplicas=9:i
  conditions=6:[DeploymentCondition](type)@type? collisionCount=8:i
Deployment metadata=1:ObjectMeta* spec=2:DeploymentSpec* status=3:DeploymentStatus*
ReplicaSetSpec replicas=1:i minReadySeconds=4:i? selector=2:LabelSelector! template=3:PodTemplateSpec*
ReplicaSetCondition type=1:s* status=2:s* lastTransitionTime=3:t* reason=4:s? message=5:s?
ReplicaSetStatus replicas=1:i* fullyLabeledReplicas=2:i? readyReplicas=4:i? availableReplicas=5:i?
  terminatingReplicas=7:i observedGeneration=3:l? conditions=6:[ReplicaSetCondition](type)@type?
ReplicaSet metadata=1:ObjectMeta* spec=2:ReplicaSetSpec* status=3:ReplicaSetStatus*
Preconditions uid=1:s resourceVersion=2:s
DeleteOptions gracePeriodSeconds=1:l preconditions=2:Preconditions orphanDependents=3:b propagationPolicy=4:s
  dryRun=5:[s]? ignoreStoreReadErrorWithClusterBreakingPotential=6:b
`;
