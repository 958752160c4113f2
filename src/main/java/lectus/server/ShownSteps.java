package lectus.server;

import java.util.Optional;
import lectus.metrics.RunningTask;
import lectus.metrics.Tasks;
import lectus.store.LeasedSteps;

/** Shows what takes more than one step as a running task, which counts its steps. */
final class ShownSteps implements LeasedSteps {
  private final LeasedSteps steps;
  private final Tasks tasks;
  private final String type;
  private Optional<RunningTask> round = Optional.empty();

  ShownSteps(LeasedSteps steps, Tasks tasks, String type) {
    this.steps = steps;
    this.tasks = tasks;
    this.type = type;
  }

  @Override
  public boolean step() {
    boolean goesOn = false;
    try {
      goesOn = steps.step();
      return goesOn;
    } finally {
      show(goesOn);
    }
  }

  private void show(boolean goesOn) {
    if (goesOn && round.isEmpty()) {
      round = Optional.of(tasks.begin(type));
    }
    round.ifPresent(task -> task.advance(1));
    if (!goesOn) {
      end();
    }
  }

  private void end() {
    round.ifPresent(RunningTask::close);
    round = Optional.empty();
  }

  @Override
  public void giveBack() {
    end();
    steps.giveBack();
  }
}
