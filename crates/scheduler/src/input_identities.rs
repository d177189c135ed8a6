//! What a node's inputs contribute to its key.

use workflow::plan::{Frame, InputIdentity, KeyPart, MediaSource, NodeIx, Plan};

use crate::artifact::Artifact;
use crate::key_resolver::KeyResolver;

impl KeyResolver {
    /// Identity of each of a node's inputs; `None` if its video does not exist yet.
    pub fn input_identities<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Vec<Option<InputIdentity>> {
        let inputs = plan.node(node).inputs.iter();
        inputs
            .map(|input| match &input.source {
                MediaSource::LastFrame(parent) => {
                    artifact(*parent).map(|artifact| InputIdentity::last_frame_of(artifact.identity_sha256()))
                }
                MediaSource::FirstFrame(parent) => artifact(*parent)
                    .map(|artifact| InputIdentity::first_frame_of(artifact.identity_sha256())),
                // Nobody has picked a take yet, so the frame is not known.
                MediaSource::Pick { .. } => None,
                MediaSource::File { sha256, .. } => Some(InputIdentity::content(sha256)),
                // As of a shot whose video has this content: it is the same image.
                MediaSource::FileFrame { sha256, frame: Frame::Last, .. } => {
                    Some(InputIdentity::last_frame_of(sha256))
                }
                MediaSource::FileFrame { sha256, frame: Frame::First, .. } => {
                    Some(InputIdentity::first_frame_of(sha256))
                }
            })
            .collect()
    }

    /// The parts of a node's key, as far as its inputs are known.
    pub fn key_parts<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Vec<KeyPart> {
        let identities = self.input_identities(plan, node, artifact);
        workflow::plan::key_parts(plan.node(node), self.service_of(plan.node(node)), &identities)
    }
}
