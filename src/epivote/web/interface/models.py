"""What goes in and comes out, as OpenAPI describes it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Problem(BaseModel):
    """What was wrong and what to do, in one sentence."""

    error: str


class AlternativeOut(BaseModel):
    """Something that can be ticked."""

    name: str
    help: str
    picture: str | None = Field(description="Address of a picture on this server.")


class TaskOut(BaseModel):
    """What is asked in general."""

    title: str
    instructions: str
    alternatives: list[AlternativeOut]
    size: str | None = Field(description="How many alternatives are right (2, 1..2 or 1..); null if it is hidden.")
    instances: int
    open: bool = Field(description="Whether ballots are accepted now.")


class InstanceOut(BaseModel):
    """One question."""

    name: str
    text: str
    picture: str | None
    picture_text: str
    audio: str | None
    video: str | None
    link: str | None
    alternatives: list[str] = Field(description="What can be ticked here.")
    wanted: bool = Field(description="Whether more ballots are wanted here; unwanted ones are accepted too.")


class BallotIn(BaseModel):
    """A ballot."""

    model_config = ConfigDict(extra="forbid")

    ticks: list[str] = Field(
        max_length=1000, description="Every alternative believed right; an empty list says none of these."
    )


class BallotOut(BaseModel):
    """A ballot as it is kept."""

    voter: str
    instance: str
    ticks: list[str]


class SetOut(BaseModel):
    """What the crowd says of one instance."""

    instance: str
    alternatives: list[str]
    confidence: float
    ballots: int
    more_ballots: int | None = Field(
        description="Expected number of ballots still needed; 65 means more than 64, null not estimated."
    )


class EstimateOut(BaseModel):
    """What the crowd says."""

    method: str
    ballots: int
    sets: list[SetOut]
