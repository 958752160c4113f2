package lectus.deployment;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1CronJob;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1PersistentVolumeClaim;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Role;
import io.kubernetes.client.openapi.models.V1RoleBinding;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import io.kubernetes.client.openapi.models.V2HorizontalPodAutoscaler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The objects that conf/kubernetes describes. */
final class KubernetesObjects {
  static final Path FOLDER = Path.of("conf", "kubernetes");
  static final Path SINGLE = FOLDER.resolve("single");
  static final Path BACKUP = FOLDER.resolve("backup");
  static final String KUSTOMIZATION = "kustomization.yaml";

  private static final Map<String, Model> MODELS =
      Map.ofEntries(
          Map.entry("v1 ConfigMap", V1ConfigMap::validateJsonElement),
          Map.entry("apps/v1 StatefulSet", V1StatefulSet::validateJsonElement),
          Map.entry("v1 Service", V1Service::validateJsonElement),
          Map.entry("v1 ServiceAccount", V1ServiceAccount::validateJsonElement),
          Map.entry("apps/v1 Deployment", V1Deployment::validateJsonElement),
          Map.entry(
              "autoscaling/v2 HorizontalPodAutoscaler",
              V2HorizontalPodAutoscaler::validateJsonElement),
          Map.entry("networking.k8s.io/v1 NetworkPolicy", V1NetworkPolicy::validateJsonElement),
          Map.entry("policy/v1 PodDisruptionBudget", V1PodDisruptionBudget::validateJsonElement),
          Map.entry("rbac.authorization.k8s.io/v1 Role", V1Role::validateJsonElement),
          Map.entry("rbac.authorization.k8s.io/v1 RoleBinding", V1RoleBinding::validateJsonElement),
          Map.entry("batch/v1 CronJob", V1CronJob::validateJsonElement),
          Map.entry("v1 PersistentVolumeClaim", V1PersistentVolumeClaim::validateJsonElement));

  private final List<Yaml> all;

  private KubernetesObjects(List<Yaml> all) {
    this.all = all;
  }

  private interface Model {
    /**
     * @throws RuntimeException a member that Kubernetes does not know, or one that is missing or of
     *     another type
     */
    void validate(JsonElement object) throws IOException;
  }

  static KubernetesObjects read(Path folder) throws IOException {
    List<Yaml> all = new ArrayList<>();
    for (String file : files(folder)) {
      all.addAll(Yaml.all(folder.resolve(file)));
    }
    return new KubernetesObjects(all);
  }

  /** Returns the names of the files, but for the one that lists them. */
  static List<String> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.equals(KUSTOMIZATION))
          .sorted()
          .toList();
    }
  }

  static void validate(Yaml object) throws IOException {
    String kind = object.at("apiVersion").text() + " " + object.at("kind").text();
    Model model = MODELS.get(kind);
    if (model == null) {
      throw new IllegalArgumentException("No model of " + kind);
    }
    model.validate(new Gson().toJsonTree(object.value()));
  }

  List<Yaml> all() {
    return all;
  }

  Yaml get(String kind, String name) {
    return all.stream()
        .filter(it -> it.at("kind").text().equals(kind))
        .filter(it -> it.at("metadata", "name").text().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("There is no " + kind + " " + name));
  }

  Yaml only(String kind) {
    return get(kind, "lectus");
  }

  Yaml pod() {
    return only("Deployment").at("spec", "template", "spec");
  }

  Yaml container() {
    return pod().at("containers").items().get(0);
  }
}
