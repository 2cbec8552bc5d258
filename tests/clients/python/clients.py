"""The Python clients against a gateway: `clients.py URL KEY MODEL,… CASE`. Prints one JSON line a check: name, what it saw."""
import asyncio
import json
import os
import sys
import traceback

URL, KEY, MODEL, CASE = sys.argv[1:5]
V1 = URL + "/v1"
os.environ.update(
    OPENAI_AGENTS_DISABLE_TRACING="1",
    LANGSMITH_TRACING="false",
    LITELLM_LOCAL_MODEL_COST_MAP="True",
    DO_NOT_TRACK="1",
)
QUESTION = "What should I pack for Oslo?"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
DESCRIPTION = "Weather of a city"
MESSAGES = [{"role": "user", "content": QUESTION}]
CHECKS = {}


def check(function):
    CHECKS[function.__name__] = function
    return function


def error_name(thrown):
    """The class by which an application tells the case, and the client's own classes above it."""
    names = [c.__name__ for c in type(thrown).__mro__]
    return {"class": names[0], "bases": names, "status": getattr(thrown, "status_code", None)}


def openai_client():
    import openai

    return openai.OpenAI(base_url=V1, api_key=KEY, max_retries=0)


def anthropic_client():
    import anthropic

    return anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)


@check
def openai_chat():
    return openai_client().chat.completions.create(model=MODEL, messages=MESSAGES).choices[0].message.content


@check
def openai_chat_stream():
    with openai_client().chat.completions.stream(model=MODEL, messages=MESSAGES) as stream:
        return stream.get_final_completion().choices[0].message.content


@check
def openai_responses():
    return openai_client().responses.create(model=MODEL, input=QUESTION).output_text


@check
def openai_responses_stream():
    with openai_client().responses.stream(model=MODEL, input=QUESTION) as stream:
        return stream.get_final_response().output_text


@check
def anthropic_messages():
    message = anthropic_client().messages.create(model=MODEL, max_tokens=99, messages=MESSAGES)
    return "".join(block.text for block in message.content if block.type == "text")


@check
def anthropic_stream():
    with anthropic_client().messages.stream(model=MODEL, max_tokens=99, messages=MESSAGES) as stream:
        return stream.get_final_text()


def langchain_model(kind):
    if kind == "messages":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=MODEL, api_key=KEY, base_url=URL, max_retries=0, max_tokens=99)
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        model=MODEL, api_key=KEY, base_url=V1, max_retries=0, use_responses_api=kind == "responses"
    )


def langchain_checks(kind):
    def whole():
        return langchain_model(kind).invoke(QUESTION).text

    def stream():
        return "".join(chunk.text for chunk in langchain_model(kind).stream(QUESTION))

    CHECKS[f"langchain_{kind}"] = whole
    CHECKS[f"langchain_{kind}_stream"] = stream


for surface in ["chat", "responses", "messages"]:
    langchain_checks(surface)


def pydantic_model(kind):
    if kind == "messages":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(base_url=URL, api_key=KEY, max_retries=0)
        return AnthropicModel(MODEL, provider=AnthropicProvider(anthropic_client=client))
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(base_url=V1, api_key=KEY, max_retries=0)
    model = OpenAIChatModel if kind == "chat" else OpenAIResponsesModel
    return model(MODEL, provider=OpenAIProvider(openai_client=client))


def pydantic_checks(kind):
    def whole():
        from pydantic_ai import Agent

        return Agent(pydantic_model(kind)).run_sync(QUESTION).output

    def stream():
        from pydantic_ai import Agent

        async def run():
            async with Agent(pydantic_model(kind)).run_stream(QUESTION) as result:
                return await result.get_output()

        return asyncio.run(run())

    CHECKS[f"pydantic_ai_{kind}"] = whole
    CHECKS[f"pydantic_ai_{kind}_stream"] = stream


# With anthropic 2.12 its Anthropic model fails before it sends anything ("Cannot instantiate typing.Union").
for surface in ["chat", "responses"]:
    pydantic_checks(surface)


def litellm_call(kind, stream):
    import litellm

    prefix, base = ("anthropic", URL) if kind == "messages" else ("openai", V1)
    answer = litellm.completion(
        model=f"{prefix}/{MODEL}", messages=MESSAGES, api_base=base, api_key=KEY, num_retries=0, max_retries=0, stream=stream
    )
    if not stream:
        return answer.choices[0].message.content
    return "".join(chunk.choices[0].delta.content or "" for chunk in answer)


for surface in ["chat", "messages"]:
    CHECKS[f"litellm_{surface}"] = lambda kind=surface: litellm_call(kind, False)
    CHECKS[f"litellm_{surface}_stream"] = lambda kind=surface: litellm_call(kind, True)


def llama_index(kind):
    if kind == "messages":
        from llama_index.llms.anthropic import Anthropic

        return Anthropic(model="claude-sonnet-4-5", base_url=URL, api_key=KEY, max_retries=0)
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(model=MODEL, api_base=V1, api_key=KEY, is_chat_model=True, max_retries=0)


@check
def llama_index_chat():
    from llama_index.core.llms import ChatMessage

    return llama_index("chat").chat([ChatMessage(role="user", content=QUESTION)]).message.content


@check
def llama_index_chat_stream():
    from llama_index.core.llms import ChatMessage

    return [c.message.content for c in llama_index("chat").stream_chat([ChatMessage(role="user", content=QUESTION)])][-1]


@check
def agents_responses():
    return agents("responses", False)


@check
def agents_chat():
    return agents("chat", False)


@check
def agents_responses_stream():
    return agents("responses", True)


@check
def agents_chat_stream():
    return agents("chat", True)


def agents(kind, stream):
    from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=V1, api_key=KEY, max_retries=0)
    model = (OpenAIResponsesModel if kind == "responses" else OpenAIChatCompletionsModel)(MODEL, client)
    agent = Agent(name="packer", model=model)
    if not stream:
        return Runner.run_sync(agent, QUESTION).final_output

    async def run():
        result = Runner.run_streamed(agent, QUESTION)
        async for _ in result.stream_events():
            pass
        return result.final_output

    return asyncio.run(run())


TOOL_CHECKS = {}


def tool(function):
    TOOL_CHECKS[function.__name__] = function
    return function


@tool
def openai_chat_tool():
    spec = {"type": "function", "function": {"name": "weather", "description": DESCRIPTION, "parameters": SCHEMA}}
    call = openai_client().chat.completions.create(model=MODEL, messages=MESSAGES, tools=[spec]).choices[0].message
    return json.loads(call.tool_calls[0].function.arguments)


@tool
def openai_responses_tool():
    spec = {"type": "function", "name": "weather", "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}
    answer = openai_client().responses.create(model=MODEL, input=QUESTION, tools=[spec])
    return json.loads([item for item in answer.output if item.type == "function_call"][0].arguments)


@tool
def anthropic_tool():
    spec = {"name": "weather", "description": DESCRIPTION, "input_schema": SCHEMA}
    message = anthropic_client().messages.create(model=MODEL, max_tokens=99, messages=MESSAGES, tools=[spec])
    return [block for block in message.content if block.type == "tool_use"][0].input


def langchain_tool(kind):
    def weather(city: str) -> str:
        """Weather of a city"""
        return city

    return langchain_model(kind).bind_tools([weather]).invoke(QUESTION).tool_calls[0]["args"]


for surface in ["chat", "responses", "messages"]:
    TOOL_CHECKS[f"langchain_{surface}_tool"] = lambda kind=surface: langchain_tool(kind)


@tool
def instructor_tool():
    import instructor
    from pydantic import BaseModel

    class weather(BaseModel):  # noqa: N801
        city: str

    client = instructor.from_openai(openai_client(), mode=instructor.Mode.TOOLS)
    return client.chat.completions.create(
        model=MODEL, messages=MESSAGES, response_model=weather, max_retries=0
    ).model_dump()


SHAPE_CHECKS = {}


def pydantic_shape(kind):
    from pydantic import BaseModel
    from pydantic_ai import Agent, NativeOutput

    class Place(BaseModel):
        city: str

    return Agent(pydantic_model(kind), output_type=NativeOutput(Place)).run_sync(QUESTION).output.model_dump()


def openai_parse():
    from pydantic import BaseModel

    class Place(BaseModel):
        city: str

    return openai_client().chat.completions.parse(
        model=MODEL, messages=MESSAGES, response_format=Place
    ).choices[0].message.parsed.model_dump()


def openai_responses_parse():
    from pydantic import BaseModel

    class Place(BaseModel):
        city: str

    return openai_client().responses.parse(model=MODEL, input=QUESTION, text_format=Place).output_parsed.model_dump()


SHAPE_CHECKS["openai_parse"] = openai_parse
SHAPE_CHECKS["openai_responses_parse"] = openai_responses_parse
for surface in ["chat", "responses"]:
    SHAPE_CHECKS[f"pydantic_ai_{surface}_shape"] = lambda kind=surface: pydantic_shape(kind)


@check
def openai_models():
    return [model.id for model in openai_client().models.list()]


@check
def anthropic_models():
    return [model.id for model in anthropic_client().models.list()]


REASONING_CHECKS = {}


def reasoning(function):
    REASONING_CHECKS[function.__name__] = function
    return function


@reasoning
def openai_responses_reasoning():
    answer = openai_client().responses.create(model=MODEL, input=QUESTION, reasoning={"summary": "auto"})
    return "".join(part.text for item in answer.output if item.type == "reasoning" for part in item.summary)


@reasoning
def openai_responses_reasoning_stream():
    with openai_client().responses.stream(model=MODEL, input=QUESTION, reasoning={"summary": "auto"}) as stream:
        return "".join(e.delta for e in stream if e.type == "response.reasoning_summary_text.delta")


@reasoning
def openai_chat_reasoning():
    return openai_client().chat.completions.create(model=MODEL, messages=MESSAGES).choices[0].message.reasoning_content


THINKING = {"type": "enabled", "budget_tokens": 1024}


@reasoning
def anthropic_thinking():
    message = anthropic_client().messages.create(model=MODEL, max_tokens=2000, messages=MESSAGES, thinking=THINKING)
    return "".join(block.thinking for block in message.content if block.type == "thinking")


@reasoning
def anthropic_thinking_stream():
    client = anthropic_client()
    with client.messages.stream(model=MODEL, max_tokens=2000, messages=MESSAGES, thinking=THINKING) as stream:
        return "".join(event.thinking for event in stream if event.type == "thinking")


def langchain_reasoning(kind):
    blocks = langchain_model(kind).invoke(QUESTION).content_blocks
    return "".join(block["reasoning"] for block in blocks if block["type"] == "reasoning")


for surface in ["responses", "messages"]:
    REASONING_CHECKS[f"langchain_{surface}_reasoning"] = lambda kind=surface: langchain_reasoning(kind)


@reasoning
def pydantic_ai_responses_reasoning():
    from pydantic_ai import Agent

    parts = Agent(pydantic_model("responses")).run_sync(QUESTION).all_messages()[-1].parts
    return "".join(part.content for part in parts if part.part_kind == "thinking")


def litellm_reasoning(kind):
    import litellm

    prefix, base = ("anthropic", URL) if kind == "messages" else ("openai", V1)
    answer = litellm.completion(model=f"{prefix}/{MODEL}", messages=MESSAGES, api_base=base, api_key=KEY, num_retries=0)
    return answer.choices[0].message.reasoning_content


for surface in ["chat", "messages"]:
    REASONING_CHECKS[f"litellm_{surface}_reasoning"] = lambda kind=surface: litellm_reasoning(kind)


SEARCH_CHECKS = {}
SEARCH = {"type": "web_search"}
SEARCH_20250305 = {"type": "web_search_20250305", "name": "web_search"}


def search(function):
    SEARCH_CHECKS[function.__name__] = function
    return function


@search
def openai_responses_search():
    answer = openai_client().responses.create(model=MODEL, input=QUESTION, tools=[SEARCH])
    assert any(item.type == "svc:web_search" for item in answer.output)
    return answer.output_text


@search
def openai_responses_search_stream():
    with openai_client().responses.stream(model=MODEL, input=QUESTION, tools=[SEARCH]) as stream:
        return stream.get_final_response().output_text


@search
def openai_responses_search_again():
    """All that was answered goes back, as the vendor's guide has it."""
    client = openai_client()
    first = client.responses.create(model=MODEL, input=QUESTION, tools=[SEARCH])
    history = [{"role": "user", "content": QUESTION}, *first.output, {"role": "user", "content": QUESTION}]
    return client.responses.create(model=MODEL, input=history, tools=[SEARCH]).output_text


@search
def openai_chat_search():
    message = openai_client().chat.completions.create(model=MODEL, messages=MESSAGES, web_search_options={}).choices[0].message
    assert message.annotations[0].url_citation.url
    return message.content


@search
def anthropic_search():
    message = anthropic_client().messages.create(model=MODEL, max_tokens=99, messages=MESSAGES, tools=[SEARCH_20250305])
    assert any(block.type == "web_search_tool_result" for block in message.content)
    return "".join(block.text for block in message.content if block.type == "text")


@search
def anthropic_search_stream():
    client = anthropic_client()
    with client.messages.stream(model=MODEL, max_tokens=99, messages=MESSAGES, tools=[SEARCH_20250305]) as stream:
        return "".join(block.text for block in stream.get_final_message().content if block.type == "text")


def langchain_search(kind, stream):
    model = langchain_model(kind).bind_tools([SEARCH_20250305 if kind == "messages" else SEARCH])
    if stream:
        return "".join(chunk.text for chunk in model.stream(QUESTION))
    return model.invoke(QUESTION).text


for surface in ["responses", "messages"]:
    SEARCH_CHECKS[f"langchain_{surface}_search"] = lambda kind=surface: langchain_search(kind, False)
    SEARCH_CHECKS[f"langchain_{surface}_search_stream"] = lambda kind=surface: langchain_search(kind, True)


@search
def agents_responses_search():
    from agents import Agent, OpenAIResponsesModel, Runner, WebSearchTool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=V1, api_key=KEY, max_retries=0)
    agent = Agent(name="packer", model=OpenAIResponsesModel(MODEL, client), tools=[WebSearchTool()])
    return Runner.run_sync(agent, QUESTION).final_output


LISTS = {"openai_models", "anthropic_models"}
SETS = {
    "text": {name: f for name, f in CHECKS.items() if name not in LISTS},
    "error": {name: f for name, f in CHECKS.items() if name not in LISTS},
    "reasoning": REASONING_CHECKS,
    "search": SEARCH_CHECKS,
    "tool": TOOL_CHECKS,
    "shape": SHAPE_CHECKS,
    "list": {name: CHECKS[name] for name in LISTS},
}

for model in MODEL.split(","):
    MODEL = model
    if model.endswith("/auth"):
        KEY = "sk_live_wrong"
    for name, function in SETS[CASE].items():
        seen = {"model": model, "name": name}
        try:
            print(json.dumps({**seen, "saw": function()}), flush=True)
        except Exception as thrown:  # noqa: BLE001
            told = error_name(thrown) if CASE == "error" else {"trace": traceback.format_exc()[-1500:]}
            print(json.dumps({**seen, "threw": told, "message": str(thrown)[:600]}), flush=True)
