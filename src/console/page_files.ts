/**
 * The files of the console's page; `packages/` contains copies of npm packages. Loaded with the first
 * request, so that a gateway whose console is not used does not have them in memory.
 */
import htm from "./page/packages/htm.js" with { type: "text" };
import preact from "./page/packages/preact.js" with { type: "text" };
import preactHooks from "./page/packages/preact-hooks.js" with { type: "text" };
import uplot from "./page/packages/uplot.js" with { type: "text" };
import uplotStyle from "./page/packages/uplot.css" with { type: "text" };
import exploreSearch from "./page/explore/search.js" with { type: "text" };
import exploreUsage from "./page/explore/usage.js" with { type: "text" };
import exploreViews from "./page/explore/views.js" with { type: "text" };
import frame from "./page/frame.js" with { type: "text" };
import generation from "./page/generation.js" with { type: "text" };
import payload from "./page/payload.js" with { type: "text" };
import icon from "./page/icon.svg" with { type: "text" };
import index from "./page/index.html" with { type: "text" };
import api from "./page/lib/api.js" with { type: "text" };
import chart from "./page/lib/chart.js" with { type: "text" };
import dialog from "./page/lib/dialog.js" with { type: "text" };
import form from "./page/lib/form.js" with { type: "text" };
import format from "./page/lib/format.js" with { type: "text" };
import hooks from "./page/lib/hooks.js" with { type: "text" };
import html from "./page/lib/html.js" with { type: "text" };
import moments from "./page/lib/moments.js" with { type: "text" };
import plot from "./page/lib/plot.js" with { type: "text" };
import router from "./page/lib/router.js" with { type: "text" };
import series from "./page/lib/series.js" with { type: "text" };
import table from "./page/lib/table.js" with { type: "text" };
import toast from "./page/lib/toast.js" with { type: "text" };
import ui from "./page/lib/ui.js" with { type: "text" };
import main from "./page/main.js" with { type: "text" };
import pages from "./page/pages.js" with { type: "text" };
import explorePage from "./page/pages/explore.js" with { type: "text" };
import livePage from "./page/pages/live.js" with { type: "text" };
import overviewPage from "./page/pages/overview.js" with { type: "text" };
import manageAccounts from "./page/manage/accounts.js" with { type: "text" };
import manageAudit from "./page/manage/audit.js" with { type: "text" };
import manageCatalog from "./page/manage/catalog.js" with { type: "text" };
import manageCatalogChanges from "./page/manage/catalog_changes.js" with { type: "text" };
import manageKeyDetails from "./page/manage/key_details.js" with { type: "text" };
import manageKeyForm from "./page/manage/key_form.js" with { type: "text" };
import manageKeys from "./page/manage/keys.js" with { type: "text" };
import manageLimits from "./page/manage/limits.js" with { type: "text" };
import manageNames from "./page/manage/names.js" with { type: "text" };
import managePolicies from "./page/manage/policies.js" with { type: "text" };
import managePrices from "./page/manage/prices.js" with { type: "text" };
import manageProviders from "./page/manage/providers.js" with { type: "text" };
import manageSearchBox from "./page/manage/search_box.js" with { type: "text" };
import manageRights from "./page/manage/rights.js" with { type: "text" };
import manageSaveChange from "./page/manage/save_change.js" with { type: "text" };
import manageSecret from "./page/manage/secret.js" with { type: "text" };
import manageSessions from "./page/manage/sessions.js" with { type: "text" };
import manageStatement from "./page/manage/statement.js" with { type: "text" };
import manageTeams from "./page/manage/teams.js" with { type: "text" };
import manageTokens from "./page/manage/tokens.js" with { type: "text" };
import playAnswerView from "./page/playground/answer_view.js" with { type: "text" };
import playAnswers from "./page/playground/answers.js" with { type: "text" };
import playCode from "./page/playground/code.js" with { type: "text" };
import playKey from "./page/playground/key.js" with { type: "text" };
import playRequests from "./page/playground/requests.js" with { type: "text" };
import playRun from "./page/playground/run.js" with { type: "text" };
import keysPage from "./page/pages/keys.js" with { type: "text" };
import modelsPage from "./page/pages/models.js" with { type: "text" };
import playgroundPage from "./page/pages/playground.js" with { type: "text" };
import policiesPage from "./page/pages/policies.js" with { type: "text" };
import configurationPage from "./page/pages/configuration.js" with { type: "text" };
import manageStyle from "./page/styles/manage.css" with { type: "text" };
import signIn from "./page/sign_in.js" with { type: "text" };
import base from "./page/styles/base.css" with { type: "text" };
import components from "./page/styles/components.css" with { type: "text" };
import frameStyle from "./page/styles/frame.css" with { type: "text" };
import pagesStyle from "./page/styles/pages.css" with { type: "text" };
import tokens from "./page/styles/tokens.css" with { type: "text" };
import theme from "./page/theme.js" with { type: "text" };

/** The document, served at `/console`. */
export const INDEX = index;

/** By path relative to the console's URL. */
export const FILES: Readonly<Record<string, string>> = {
  "packages/htm.js": htm,
  "packages/preact.js": preact,
  "packages/preact-hooks.js": preactHooks,
  "packages/uplot.js": uplot,
  "packages/uplot.css": uplotStyle,
  "explore/search.js": exploreSearch,
  "explore/usage.js": exploreUsage,
  "explore/views.js": exploreViews,
  "frame.js": frame,
  "generation.js": generation,
  "payload.js": payload,
  "icon.svg": icon,
  "lib/api.js": api,
  "lib/chart.js": chart,
  "lib/dialog.js": dialog,
  "lib/form.js": form,
  "lib/format.js": format,
  "lib/hooks.js": hooks,
  "lib/html.js": html,
  "lib/moments.js": moments,
  "lib/plot.js": plot,
  "lib/router.js": router,
  "lib/series.js": series,
  "lib/table.js": table,
  "lib/toast.js": toast,
  "lib/ui.js": ui,
  "main.js": main,
  "pages.js": pages,
  "pages/explore.js": explorePage,
  "pages/live.js": livePage,
  "pages/overview.js": overviewPage,
  "manage/accounts.js": manageAccounts,
  "manage/audit.js": manageAudit,
  "manage/catalog.js": manageCatalog,
  "manage/catalog_changes.js": manageCatalogChanges,
  "manage/key_details.js": manageKeyDetails,
  "manage/key_form.js": manageKeyForm,
  "manage/keys.js": manageKeys,
  "manage/limits.js": manageLimits,
  "manage/names.js": manageNames,
  "manage/policies.js": managePolicies,
  "manage/prices.js": managePrices,
  "manage/providers.js": manageProviders,
  "manage/search_box.js": manageSearchBox,
  "manage/rights.js": manageRights,
  "manage/save_change.js": manageSaveChange,
  "manage/secret.js": manageSecret,
  "manage/sessions.js": manageSessions,
  "manage/statement.js": manageStatement,
  "manage/teams.js": manageTeams,
  "manage/tokens.js": manageTokens,
  "playground/answer_view.js": playAnswerView,
  "playground/answers.js": playAnswers,
  "playground/code.js": playCode,
  "playground/key.js": playKey,
  "playground/requests.js": playRequests,
  "playground/run.js": playRun,
  "pages/keys.js": keysPage,
  "pages/models.js": modelsPage,
  "pages/playground.js": playgroundPage,
  "pages/policies.js": policiesPage,
  "pages/configuration.js": configurationPage,
  "styles/manage.css": manageStyle,
  "sign_in.js": signIn,
  "styles/base.css": base,
  "styles/components.css": components,
  "styles/frame.css": frameStyle,
  "styles/pages.css": pagesStyle,
  "styles/tokens.css": tokens,
  "theme.js": theme,
};
