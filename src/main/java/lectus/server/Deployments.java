package lectus.server;

import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lectus.error.StartException;

/** Verticles that start one after the other and end together. Not thread-safe. */
final class Deployments {
  private static final long DEPLOY_SECONDS = 30;

  private final Vertx vertx;
  private final List<String> ids = new ArrayList<>();

  Deployments(Vertx vertx) {
    this.vertx = vertx;
  }

  /**
   * Deploys a verticle on an event loop.
   *
   * @throws StartException whose cause is the verticle's failure
   */
  void onEventLoop(Deployable verticle) {
    ids.add(await(vertx.deployVerticle(verticle), DEPLOY_SECONDS));
  }

  void onThread(String name, Deployable verticle) {
    DeploymentOptions options =
        new DeploymentOptions()
            .setThreadingModel(ThreadingModel.WORKER)
            .setWorkerPoolName(name)
            .setWorkerPoolSize(1);
    ids.add(await(vertx.deployVerticle(verticle, options), DEPLOY_SECONDS));
  }

  /**
   * Ends all verticles.
   *
   * @throws StartException if one of them did not end in time
   */
  void end(long seconds) {
    await(Future.join(ids.stream().map(vertx::undeploy).toList()), seconds);
  }

  /** Awaits a future, and turns any failure, checked or not, into a {@link StartException}. */
  static <T> T await(Future<T> future, long seconds) {
    try {
      return future.await(seconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new StartException("The server did not start or stop in time.", e);
    } catch (Exception e) {
      throw new StartException("The server cannot start: " + e.getMessage(), e);
    }
  }
}
