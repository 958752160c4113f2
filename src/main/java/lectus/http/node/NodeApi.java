package lectus.http.node;

import java.time.Duration;
import java.util.Map;
import lectus.http.HttpSettings;
import lectus.http.Services;
import lectus.http.exchange.Resource;

/** The resources of the server itself. */
public final class NodeApi {
  private final Services services;
  private final HttpSettings settings;

  public NodeApi(Services services, HttpSettings settings) {
    this.services = services;
    this.settings = settings;
  }

  /** {@code /}. */
  public Resource root() {
    return new ServerResource(services.storeId(), settings.version());
  }

  /** Returns the resources without others below them. */
  public Map<String, Resource> atTop() {
    return Map.of(
        "_up",
        new UpResource(services.pulse()),
        "_active_tasks",
        new ActiveTasksResource(tasks(), services.membership(), services.others()),
        "_membership",
        new MembershipResource(services.membership()),
        "_cluster_setup",
        new ClusterSetupResource(services.membership()));
  }

  private TaskList tasks() {
    return new TaskList(services.tasks(), services.membership());
  }

  /** Returns the resources of this server itself, for its clients and for other members. */
  public OwnResources parts() {
    Map<String, NodePart> parts =
        Map.of(
            TaskList.NAME,
            tasks(),
            "_config",
            config(),
            "_prometheus",
            new FiguresResource(services.metrics()),
            "_restart",
            new RestartPart(services.restart()),
            "_stats",
            new StatsResource(services.figures()),
            "_system",
            new SystemResource(),
            "_versions",
            new VersionsResource());
    return new OwnResources(
        parts, services.readers(), Duration.ofSeconds(settings.requestSeconds()));
  }

  private ConfigResource config() {
    LockOut lockOut = new LockOut(services.settings().live(), services.accounts().admins());
    return new ConfigResource(
        new CouchSettings(services.storeId(), services.settings(), lockOut),
        new AdminsResource(services.accounts(), lockOut));
  }

  private NodeResource node() {
    OwnResources parts = parts();
    return new NodeResource(
        services.membership(), parts, new RemoteParts(services.others(), parts));
  }

  /** Returns the resources that answer for everything below their names. */
  public Map<String, Resource> trees() {
    return Map.of(
        "_example",
        PackagedPage.example(),
        "_lectus",
        PackagedPage.dashboard(),
        "_utils",
        new UtilsResource(settings.utils()),
        "_node",
        node(),
        "_scheduler",
        new SchedulerResource());
  }
}
