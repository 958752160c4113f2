package lectus.http.node;

import io.vertx.core.Future;
import java.util.List;
import lectus.http.Membership;
import lectus.http.exchange.Requests;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.task.TaskState;
import lectus.task.Tasks;

/** {@code /_node/{node}/_active_tasks}: what a server does in the background. */
final class TaskList implements NodePart {
  static final String NAME = "_active_tasks";

  private final Tasks tasks;
  private final Membership membership;

  TaskList(Tasks tasks, Membership membership) {
    this.tasks = tasks;
    this.membership = membership;
  }

  @Override
  public Future<Reply> answer(NodeRequest request) {
    return switch (request.method()) {
      case GET, HEAD -> {
        JsonBuffer json = new JsonBuffer(256).octet('[');
        append(json);
        yield Future.succeededFuture(Reply.json(200, json.octet(']')));
      }
      default -> throw Requests.notAllowed("GET");
    };
  }

  /** Appends the running tasks with commas between them. */
  void append(JsonBuffer json) {
    List<TaskState> running = tasks.running();
    for (int i = 0; i < running.size(); i++) {
      append(running.get(i), json.ascii(i == 0 ? "" : ","));
    }
  }

  /** Clients take a task's pid for its name. What has no database has an empty one. */
  private void append(TaskState task, JsonBuffer json) {
    json.ascii("{\"node\":").string(membership.self());
    json.ascii(",\"pid\":").string("<0." + task.number() + ".0>");
    json.ascii(",\"type\":").string(task.type());
    json.ascii(",\"database\":").string(task.subject());
    task.details()
        .forEach((name, value) -> json.ascii(",\"").ascii(name).ascii("\":").string(value));
    json.ascii(",\"started_on\":").number(task.started().getEpochSecond());
    json.ascii(",\"updated_on\":").number(task.updated().getEpochSecond());
    json.ascii(",\"changes_done\":").number(task.done());
    task.total().ifPresent(total -> json.ascii(",\"total_changes\":").number(total));
    task.progress().ifPresent(percent -> json.ascii(",\"progress\":").number(percent));
    json.octet('}');
  }
}
