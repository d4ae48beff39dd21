package library

import (
	"errors"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// NeedsRead is the code of a refusal whose reason is not told to an access token without the scope
// read.
const NeedsRead fault.Code = "NEEDS_READ"

// Codes are those of refusals that the store and this package decide.
var Codes = []fault.Code{
	NoPasswords, WrongSignIn, SessionEnded, NoSuchReset, NoSuchLogin, promptdb.NoAccount,
	attempts.TooMany, auth.NotLetIn,
	prompt.NoSuchInvite, prompt.InviteExpired, prompt.InviteUsed, prompt.InviteVoid, prompt.AlreadyMember,
	prompt.TooManyInvites, prompt.NeedsAccount,
	promptdb.QuotaBytes, promptdb.QuotaFavorites, promptdb.QuotaPrompts, promptdb.PageTooLarge,
	promptdb.AuthorSecretDamaged, promptdb.StoreTooOld, promptdb.RestoreIncomplete, promptdb.UserMoved, NeedsRead,
	prompt.NeedsRole, HasPublic, AdminsMake, prompt.LastAdministrator, prompt.TooManyMembers,
	prompt.NeedsProposal, prompt.LabelRuled, prompt.ProposalIsOpen, prompt.ProposalClosed, prompt.ProposalIsStale,
	prompt.OtherVersion, prompt.OwnVersion,
	prompt.NoLabelRule, prompt.NeedsPerson, prompt.NotDescribed, prompt.NotReleased, prompt.Recalled,
	prompt.NotASkill, prompt.SameSkillName, prompt.TooManySkills, prompt.UnknownPrompt, prompt.QuotaCollections,
}

// Told returns an error as a caller may know it. The reason against a change may be the content of
// other prompts, or of this one before, so an access token without the scope read is told only that
// there is one. That a name is taken follows from the request itself.
func Told(who auth.User, err error) error {
	var f *fault.Error
	if who.May(auth.ScopeRead) || !errors.As(err, &f) || f.Kind != fault.Conflict || f.Code == prompt.NameTaken {
		return err
	}
	return &fault.Error{
		Kind: fault.Conflict, Code: NeedsRead, Cause: err,
		Text: "as the prompts are, this cannot be done; an access token with the scope read is told why: send the request with such a one",
	}
}
