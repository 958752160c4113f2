package lectus.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.metrics.Tasks.RunningTask;
import lectus.metrics.Tasks.TaskState;
import org.junit.jupiter.api.Test;

final class TasksTest {
  private Instant now = Instant.ofEpochSecond(1_000);
  private final Tasks tasks = new Tasks(() -> now);

  @Test
  void a_task_is_seen_from_its_beginning_to_its_end() {
    RunningTask task = tasks.begin("resharding", "w");
    now = now.plusSeconds(5);
    task.outOf(200).advance(50);

    assertThat(tasks.running())
        .containsExactly(
            new TaskState(
                1,
                "resharding",
                "w",
                Map.of(),
                Optional.empty(),
                Instant.ofEpochSecond(1_000),
                now,
                50,
                OptionalLong.of(200)));
    task.close();
    assertThat(tasks.running()).isEmpty();
  }

  @Test
  void progress_is_in_percent_and_never_more_than_all() {
    RunningTask task = tasks.begin("resharding");
    assertThat(progress()).isEmpty();
    assertThat(progressOf(task.outOf(0))).isEmpty();
    task.outOf(3).advance(1);
    assertThat(progress()).hasValue(33);
    task.advance(7);
    assertThat(progress()).hasValue(100);
  }

  private OptionalLong progressOf(RunningTask task) {
    return task.state().progress();
  }

  private OptionalLong progress() {
    return tasks.running().get(0).progress();
  }

  @Test
  void as_many_tasks_are_shown_as_may_be_and_others_run_unseen() {
    List<RunningTask> all = new ArrayList<>();
    for (int i = 0; i < Tasks.MOST + 1; i++) {
      all.add(tasks.begin("resharding"));
    }
    assertThat(tasks.running()).hasSize(Tasks.MOST);
    assertThat(tasks.running().get(Tasks.MOST - 1).number()).isEqualTo(Tasks.MOST);

    all.forEach(RunningTask::close);
    assertThat(tasks.running()).isEmpty();
    tasks.begin("resharding");
    assertThat(tasks.running()).hasSize(1);
  }
}
