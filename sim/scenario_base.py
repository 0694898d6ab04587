"""The base of every scenario section, and pydantic's complaints turned into one clear line."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sim.errors import ScenarioError, did_you_mean
from sim.units import show_number

_BOUNDS = {
    "greater_than": ("gt", "must be more than {0}"),
    "greater_than_equal": ("ge", "must be at least {0}; the nearest is {0}"),
    "less_than": ("lt", "must be less than {0}"),
    "less_than_equal": ("le", "must be at most {0}; the nearest is {0}"),
}
_KINDS = {
    "int": "must be a whole number, like 8",
    "float": "must be a number, like 1.5",
    "string": "must be text in quotes",
    "bool": "must be true or false",
    "tuple": "must be a list [...]",
    "dict": "must be a table of key = value",
    "model": "must be a table of key = value",
}


def _model_at(model: type[BaseModel], path: tuple[str | int, ...]) -> type[BaseModel] | None:
    for step in path:
        if isinstance(step, int) or model is None:
            continue
        field = model.model_fields.get(step)
        model = next(iter(models_in(field.annotation)), None) if field else None
    return model


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """The model classes named in a type annotation, such as Fault in tuple[Fault, ...]."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in getattr(annotation, "__args__", ()) for found in models_in(part)]


def _rule(model: type[BaseModel], error: dict) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        parent = _model_at(model, error["loc"][:-1]) or model
        return "is not a known key: " + did_you_mean(error["loc"][-1], parent.model_fields)
    if kind == "missing":
        return "is missing"
    if kind == "literal_error":
        choices = [word.strip("' ") for word in context["expected"].replace(" or ", ", ").split(", ")]
        return "is not one of the choices: " + did_you_mean(error["input"], choices)
    if kind in _BOUNDS:
        name, text = _BOUNDS[kind]
        bound = context[name]
        return text.format(bound if isinstance(bound, int) else show_number(bound))
    if kind == "finite_number":
        return "must be a finite number"
    for prefix, text in _KINDS.items():
        if kind.startswith(prefix):
            return text
    return error["msg"][:1].lower() + error["msg"][1:]


def explain(model: type[BaseModel], section: str, problem: ValidationError) -> str:
    """One line for the first fault in `problem`, met while building `model` (a section of a scenario)."""
    errors = problem.errors(include_url=False)
    first = min(errors, key=lambda error: error["type"] != "extra_forbidden")
    path = ".".join(str(step) for step in ((section,) if section else ()) + first["loc"])
    rule = _rule(model, first)
    if first["type"] not in ("extra_forbidden", "missing"):
        value = repr(first["input"])
        path += " = " + (value if len(value) <= 60 else value[:57] + "...")
        rule = ": " + rule if rule.startswith("must") else " " + rule
    else:
        rule = " " + rule
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return path + rule + more


class _OneLineErrors(type(BaseModel)):
    def __call__(cls, *args: Any, **values: Any) -> Any:
        try:
            return super().__call__(*args, **values)
        except ValidationError as problem:
            raise ScenarioError(explain(cls, cls.SECTION, problem)) from None


class Part(BaseModel, metaclass=_OneLineErrors):
    """A frozen, strictly typed section of a scenario; building one wrongly raises ScenarioError."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    SECTION: ClassVar[str] = ""

    def _resolve(self, **values: Any) -> None:
        """Fill defaults that depend on other fields, without counting them as given by the user."""
        self.__dict__.update(values)

    def given(self) -> dict[str, Any]:
        """What the user wrote, as plain nested data without the defaults."""
        return self.model_dump(exclude_unset=True, exclude_none=True)
