package lectus.http.server;

import java.util.Map;
import lectus.http.HttpSettings;
import lectus.http.Services;
import lectus.http.exchange.Resource;

/** The resources that are the server itself. */
public final class ServerResources {
  /** Of the example page, which has files below it. */
  public static final String EXAMPLE = ExamplePage.NAME;

  private final Services services;
  private final HttpSettings settings;

  public ServerResources(Services services, HttpSettings settings) {
    this.services = services;
    this.settings = settings;
  }

  /** {@code /}. */
  public Resource root() {
    return new ServerResource(services, settings);
  }

  public Map<String, Resource> atTop() {
    return Map.of(
        "_up",
        new UpResource(services),
        "_session",
        FixedResource.SESSION,
        "_active_tasks",
        FixedResource.ACTIVE_TASKS,
        "_membership",
        new MembershipResource(services.membership()),
        EXAMPLE,
        new ExamplePage());
  }
}
