extension AuthorizeTexts {
    static let english = AuthorizeTexts(
        consent: Consent(
            title: "{client} asks for access to your account",
            titleForGoogle: "Link your account to Google",
            signedInAs: "Signed in as",
            withoutName: "Your account, without a name and an email address",
            useAnotherAccount: "Use another account",
            loginHint: "{client} suggests the account {hint}.",
            purposeForGoogle:
                "Your account will be linked to Google, so that you can use it in Google’s apps and on Google’s devices.",
            scopes: "{client} will be able to",
            optionalScopes: "Clear the checkbox of what you do not want to allow.",
            emailShared: "{client} gets your email address {email}.",
            emailHidden:
                "Your own email address stays hidden. {client} gets the forwarding address {email}.",
            emailUnknown: "{client} gets no email address, because none is known here.",
            emailNotShared: "{client} does not get your email address.",
            googlePolicy: "{policy} says how Google uses this data.",
            googlePolicyName: "Google’s Privacy Policy",
            authorizationForGoogle:
                "By choosing “{agree}”, you authorize Google to access your account and to control what belongs to it, as listed above.",
            unlinkFromGoogle:
                "You can unlink at any time: in the app, or in your Google Account under {connections}.",
            googleConnectionsName: "Third-party apps & services",
            unlink:
                "You can end this access at any time: in the app, or in the settings of your Apple Account under “Sign in with Apple”.",
            returnsTo: "After that you return to {target}.",
            agree: "Agree and link",
            cancel: "Cancel"),
        refusals: Refusals(
            unknownClient: Refusal(
                title: "This app is not known here",
                reason: "The link names an app (client_id) that is not registered with this service.",
                advice:
                    "Go back to the app and try again. If you develop it, compare client_id with the configuration of this service."
            ),
            redirectURIMismatch: Refusal(
                title: "This link leads to the wrong place",
                reason:
                    "The link wants to return to an address (redirect_uri) that is not registered for this app.",
                advice:
                    "For your safety you stay here. If you develop the app, register exactly this address, with the same letters, port and path."
            ),
            requestMalformed: Refusal(
                title: "This link is not complete",
                reason:
                    "The link must name the app (client_id) and the address to return to (redirect_uri), each once.",
                advice:
                    "Go back to the app and try again. If you develop it, check the parameters of the link."
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
                reason: "Your sign-in is over, or it was withdrawn at Apple.",
                advice: "Nothing was shared. Sign in with Apple again to go on.")
        ),
        errorCode: "Error code: {code}",
        startAgain: "Start again")
}
