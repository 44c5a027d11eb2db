extension AuthorizeTexts {
    static let english = AuthorizeTexts(
        consent: Consent(
            title: "{client} asks for access to your {app} account",
            titleForFirstParty: "Sign in to {client}",
            titleForGoogle: "Link your {app} account to Google",
            signedInAs: "Signed in as",
            withoutName: "Your account, without a name and an email address",
            useAnotherAccount: "Use another account",
            loginHint:
                "{client} suggests the account {hint}. Check that you are signed in with the account you want.",
            purposeForGoogle:
                "Your {app} account will be linked to Google, so that you can use it in Google’s apps and on Google’s devices.",
            scopes: "{client} will be able to:",
            optionalScopes: "Clear the checkbox of what you do not want to allow.",
            emailHidden: "Your own address stays hidden. Only this forwarding address is shared: {email}",
            emailUnknown: "No address is known here, so none is shared.",
            emailNotShared: "{client} does not get your email address.",
            googlePolicy: "{policy} says how Google uses this data.",
            googlePolicyName: "Google’s Privacy Policy",
            authorizationForGoogle:
                "By choosing “{agree}”, you authorize Google to access your account and to control what belongs to it, as listed above.",
            unlinkFromGoogle:
                "You can unlink at any time: in the app, or in your Google Account under {connections}.",
            googleConnectionsName: "Third-party apps & services",
            unlink:
                "You can end this access at any time in the app. If you stop using the app with your Apple Account, every access ends, this one too.",
            returnsTo: "You then return to {target}.",
            returnsToProgram:
                "You then return to the program on this computer that opened this page ({target}).",
            agreeAndLink: "Agree and link",
            allow: "Allow",
            goOn: "Continue",
            cancel: "Cancel"),
        refusals: Refusals(
            unknownClient: Refusal(
                title: "This app is not known here",
                reason: "The link names an app (client_id) that is not registered with this service.",
                advice:
                    "Go back to the app and try again. If you make this app, compare client_id with the configuration of this service."
            ),
            redirectURIMismatch: Refusal(
                title: "This link leads to the wrong place",
                reason:
                    "The link wants to return to an address (redirect_uri) that is not registered for this app.",
                advice:
                    "For your safety you stay here. If you make this app, register exactly this address, with the same letters, port and path."
            ),
            requestMalformed: Refusal(
                title: "This link is not complete",
                reason:
                    "The link must name the app (client_id) and the address to return to (redirect_uri), each once.",
                advice:
                    "Go back to the app and try again. If you make this app, check the parameters of the link."
            ),
            embeddedBrowser: Refusal(
                title: "Open this page in your browser",
                reason:
                    "This page is shown inside another app, which could read what you type. It needs your browser, for example Safari or Chrome.",
                advice:
                    "Choose “Open in browser” in the menu of this app, or copy this address into your browser:"
            ),
            formRefused: Refusal(
                title: "This form cannot be used any more",
                reason: "It belongs to another sign-in or another request, or it was changed.",
                advice: "Nothing was shared. Start again to see what the app asks for."),
            signInNeeded: Refusal(
                title: "Sign in again",
                reason: "Your session has ended, or you have stopped using this app with your Apple Account.",
                advice: "Nothing was shared. Sign in with Apple again to go on."),
            accountDisabled: Refusal(
                title: "This account is disabled",
                reason: "The makers of the app have disabled your account, so you cannot sign in with it.",
                advice: "Nothing was shared. If you think that this is a mistake, ask the makers of the app."),
            otherBrowser: Refusal(
                title: "Continue in the browser where you began",
                reason: "This sign-in was started in another browser, or this one does not store cookies.",
                advice:
                    "Nothing was shared. Open the other browser, or go back to the app or the website and sign in again."
            ),
            signInOver: Refusal(
                title: "This sign-in is over",
                reason: "It was started more than ten minutes ago, or it has been completed before.",
                advice: "Go back to the app or the website where you began, and sign in again."),
            signInUnknown: Refusal(
                title: "This sign-in is not known here",
                reason: "It was not started here, or its address was changed on the way.",
                advice: "Go back to the app or the website where you began, and sign in again."),
            requestUnreadable: Refusal(
                title: "This page cannot be opened like this",
                reason: "The request is not one that this page answers.",
                advice: "Go back to the app or the website where you began, and try again."),
            unavailable: Refusal(
                title: "Not available at the moment",
                reason: "The service cannot answer right now.",
                advice: "Wait a minute. Then go back to where you began, and try again."),
            failed: Refusal(
                title: "Something went wrong",
                reason: "The service could not finish your request. It is not your fault.",
                advice: "Try again. If it happens again, tell the makers of the app the code below."),
            pageUnknown: Refusal(
                title: "There is no such page",
                reason: "The address leads nowhere. It may be misspelled or out of date.",
                advice: "Check the address, or go back to where you came from."),
            linkOfApp: Refusal(
                title: "This link opens in the app",
                reason: "Only the app on your phone or tablet can answer it, not a browser.",
                advice:
                    "Go back to the Google app, and link again. Without the app, linking continues in the browser."
            )
        ),
        errorCode: "Error code: {code}",
        startAgain: "Start again",
        backToClient: "Back to {client}")
}
