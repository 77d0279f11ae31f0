"""What is asked: the task, and the file it is read from."""

from epivote.web.task.example import EXAMPLE
from epivote.web.task.model import Alternative, Instance, Task
from epivote.web.task.reading import check_task, read_task
from epivote.web.task.tables import Mistake

__all__ = ["EXAMPLE", "Alternative", "Instance", "Mistake", "Task", "check_task", "read_task"]
